/** What the page knows about a signed-in user. It never leaves the tabs of this browser. */
import type { ServerInfo } from '@stepwright/sdk';

export type SignInInfo = NonNullable<ServerInfo['signIn']>;

export interface Credentials {
  readonly token: string;
  /** Null if the user entered the token, which the page can't renew. */
  readonly renewal: Renewal | null;
}

export interface Renewal {
  readonly signIn: SignInInfo;
  /** Null if the issuer doesn't provide one, so the user has to sign in again when the token expires. */
  readonly refreshToken: string | null;
  /** Identifies the session to the issuer at sign-out. */
  readonly idToken: string | null;
  /** Milliseconds since 1970; null if the issuer doesn't provide it. */
  readonly expiresAt: number | null;
}

const KEY = 'stepwright.credentials';
/** Marks that a user has signed in with this browser, without storing the token. A new tab then asks the other tabs for it. */
const SIGNED_IN_KEY = 'stepwright.signed-in';

/** The credentials that this tab has stored for a reload. */
export function readCredentials(): Credentials | null {
  try {
    const text = sessionStorage.getItem(KEY);
    // Only `writeCredentials` writes it.
    return text === null ? null : (JSON.parse(text) as Credentials);
  } catch {
    return null;
  }
}

export function isSignedIn(): boolean {
  try {
    return localStorage.getItem(SIGNED_IN_KEY) !== null;
  } catch {
    return false;
  }
}

export function writeCredentials(credentials: Credentials | null): void {
  try {
    if (credentials === null) {
      sessionStorage.removeItem(KEY);
      localStorage.removeItem(SIGNED_IN_KEY);
    } else {
      sessionStorage.setItem(KEY, JSON.stringify(credentials));
      localStorage.setItem(SIGNED_IN_KEY, 'yes');
    }
  } catch {
    // The browser may forbid storage; then the credentials last until the page is closed.
  }
}
