/** The sign-in URLs: the part of the sign-in code that the page needs before it loads the rest. */
import type { Renewal } from './credentials.js';

/** The storage key for the state of a sign-in in progress. */
export const PENDING_KEY = 'stepwright.sign-in';

/** The redirect URL to register with the issuer. */
export function redirectUri(): string {
  return `${window.location.origin}/ui/`;
}

/** Whether the issuer has sent the user back to this page, and this tab began the sign-in. */
export function comesFromIssuer(): boolean {
  const parameters = new URLSearchParams(window.location.search);
  if (!parameters.has('state')) return false;
  if (!parameters.has('code') && !parameters.has('error')) return false;
  return sessionStorage.getItem(PENDING_KEY) !== null;
}

/** The URL that ends the issuer's own session and redirects back; null if the issuer has none. */
export function signOutAddress({ idToken, signIn }: Renewal): URL | null {
  if (signIn.endSessionEndpoint === null) return null;
  const address = new URL(signIn.endSessionEndpoint);
  address.searchParams.set('client_id', signIn.clientId);
  address.searchParams.set('post_logout_redirect_uri', redirectUri());
  if (idToken !== null) address.searchParams.set('id_token_hint', idToken);
  return address;
}
