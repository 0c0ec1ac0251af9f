/** The addresses of a sign-in: what the page needs of it before it loads the rest. */
import type { Renewal } from './credentials.js';

/** Under this name, a tab keeps what it needs to finish a sign-in that it has begun. */
export const PENDING_KEY = 'stepwright.sign-in';

/** The address that must be registered at the issuer. */
export function redirectUri(): string {
  return `${window.location.origin}/ui/`;
}

/** Whether the issuer has sent the user back to this page, and this tab has begun the sign-in. */
export function comesFromIssuer(): boolean {
  const parameters = new URLSearchParams(window.location.search);
  if (!parameters.has('state')) return false;
  if (!parameters.has('code') && !parameters.has('error')) return false;
  return sessionStorage.getItem(PENDING_KEY) !== null;
}

/** The page that ends the issuer's own session, and comes back; null if the issuer has none. */
export function signOutAddress({ idToken, signIn }: Renewal): URL | null {
  if (signIn.endSessionEndpoint === null) return null;
  const address = new URL(signIn.endSessionEndpoint);
  address.searchParams.set('client_id', signIn.clientId);
  address.searchParams.set('post_logout_redirect_uri', redirectUri());
  if (idToken !== null) address.searchParams.set('id_token_hint', idToken);
  return address;
}
