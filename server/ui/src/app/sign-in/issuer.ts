/** Signs in with an OpenID Connect issuer: authorization code flow with PKCE, renewal and sign-out. */
import * as oauth from 'oauth4webapi';
import type { Credentials, Renewal, SignInInfo } from './credentials.js';
import { PENDING_KEY, redirectUri } from './issuer-address.js';

/** The page that the user came from, and the proof that this tab began the sign-in. */
interface Pending {
  readonly signIn: SignInInfo;
  readonly state: string;
  readonly verifier: string;
  readonly path: string;
  /** The sign-in happens in a separate window, so that the page keeps the user's input. */
  readonly isPopup: boolean;
}

/** Redirects to the issuer, which returns to `finishSignIn`. */
export async function beginSignIn(signIn: SignInInfo, { isPopup }: { readonly isPopup: boolean }) {
  const { hash, pathname, search } = window.location;
  const pending: Pending = {
    signIn,
    state: oauth.generateRandomState(),
    verifier: oauth.generateRandomCodeVerifier(),
    path: pathname + search + hash,
    isPopup,
  };
  const address = new URL(signIn.authorizationEndpoint);
  for (const [name, value] of new URLSearchParams(signIn.parameters)) {
    address.searchParams.set(name, value);
  }
  const parameters = {
    client_id: signIn.clientId,
    redirect_uri: redirectUri(),
    response_type: 'code',
    scope: signIn.scope,
    state: pending.state,
    code_challenge: await oauth.calculatePKCECodeChallenge(pending.verifier),
    code_challenge_method: 'S256',
    // Some issuers only provide a refresh token with the user's consent.
    ...(signIn.scope.includes('offline_access') && { prompt: 'consent' }),
  };
  for (const [name, value] of Object.entries(parameters)) address.searchParams.set(name, value);
  // A new window gets a copy of this storage.
  sessionStorage.setItem(PENDING_KEY, JSON.stringify(pending));
  if (isPopup) window.open(address, 'stepwright-sign-in', 'popup,width=520,height=720');
  else window.location.assign(address);
}

export interface FinishedSignIn {
  readonly credentials: Credentials;
  readonly path: string;
  readonly isPopup: boolean;
}

/**
 * Exchanges the code in this page's URL for credentials; null if this isn't a return from a sign-in.
 * @throws Error with a message for the user
 */
export async function finishSignIn(): Promise<FinishedSignIn | null> {
  const text = sessionStorage.getItem(PENDING_KEY);
  if (text === null) return null;
  sessionStorage.removeItem(PENDING_KEY);
  // Only `beginSignIn` writes it.
  const { isPopup, path, signIn, state, verifier } = JSON.parse(text) as Pending;
  const [server, client] = partiesOf(signIn);
  const parameters = oauth.validateAuthResponse(
    server,
    client,
    new URL(window.location.href),
    state,
  );
  const response = await oauth.authorizationCodeGrantRequest(
    server,
    client,
    oauth.None(),
    parameters,
    redirectUri(),
    verifier,
    options(signIn),
  );
  const answer = await oauth.processAuthorizationCodeResponse(server, client, response);
  return { credentials: credentialsOf(signIn, answer, null), path, isPopup };
}

/** Renews the token without user interaction. @throws Error if the issuer rejects it or can't be reached */
export async function renew(renewal: Renewal & { readonly refreshToken: string }) {
  const [server, client] = partiesOf(renewal.signIn);
  const response = await oauth.refreshTokenGrantRequest(
    server,
    client,
    oauth.None(),
    renewal.refreshToken,
    options(renewal.signIn),
  );
  const answer = await oauth.processRefreshTokenResponse(server, client, response);
  return credentialsOf(renewal.signIn, answer, renewal);
}

function partiesOf(signIn: SignInInfo): [oauth.AuthorizationServer, oauth.Client] {
  const server = {
    issuer: signIn.issuer,
    token_endpoint: signIn.tokenEndpoint,
    id_token_signing_alg_values_supported: signIn.idTokenAlgorithms,
  };
  return [server, { client_id: signIn.clientId }];
}

/** Parameters such as `resource` also apply to token requests. */
function options({ parameters, tokenEndpoint }: SignInInfo) {
  return {
    additionalParameters: new URLSearchParams(parameters),
    // The server accepts such a URL only on its own machine.
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- marked as deprecated only to stand out
    [oauth.allowInsecureRequests]: tokenEndpoint.startsWith('http:'),
  };
}

function credentialsOf(
  signIn: SignInInfo,
  answer: oauth.TokenEndpointResponse,
  before: Renewal | null,
): Credentials {
  const { access_token: token, expires_in: seconds, id_token, refresh_token } = answer;
  return {
    token,
    renewal: {
      signIn,
      // An issuer that doesn't rotate refresh tokens sends none with a renewal.
      refreshToken: refresh_token ?? before?.refreshToken ?? null,
      idToken: id_token ?? before?.idToken ?? null,
      expiresAt: seconds === undefined ? null : Date.now() + seconds * 1000,
    },
  };
}
