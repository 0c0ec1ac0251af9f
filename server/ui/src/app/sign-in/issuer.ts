/** Signs in at an OpenID Connect issuer: authorization code with PKCE, renewal and sign-out. */
import * as oauth from 'oauth4webapi';
import type { Credentials, Renewal, SignInInfo } from './credentials.js';
import { PENDING_KEY, redirectUri } from './issuer-address.js';

/** Where the user was when the sign-in began, and what proves that this tab began it. */
interface Pending {
  readonly signIn: SignInInfo;
  readonly state: string;
  readonly verifier: string;
  readonly path: string;
  /** The sign-in happens in a window of its own, over a page that keeps its text. */
  readonly isPopup: boolean;
}

/** Leaves the page for the issuer, which comes back to `finishSignIn`. */
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
    // Some issuers give a refresh token only to users who have agreed to it.
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
 * Turns the code in this page's address into credentials; null if no sign-in is coming back.
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

/** Gets the next token without the user. @throws Error if the issuer refuses it, or cannot be reached */
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

/** Parameters such as `resource` count for tokens, too. */
function options({ parameters, tokenEndpoint }: SignInInfo) {
  return {
    additionalParameters: new URLSearchParams(parameters),
    // The server accepts such an address only on its own machine.
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
      // An issuer that does not rotate them sends none with a renewal.
      refreshToken: refresh_token ?? before?.refreshToken ?? null,
      idToken: id_token ?? before?.idToken ?? null,
      expiresAt: seconds === undefined ? null : Date.now() + seconds * 1000,
    },
  };
}
