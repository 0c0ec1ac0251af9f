/** What the page knows of a user who has signed in. All of it stays in the tabs of this browser. */
import type { ServerInfo } from '@stepwright/sdk';

export type SignInInfo = NonNullable<ServerInfo['signIn']>;

export interface Credentials {
  readonly token: string;
  /** Null: the user has entered the token, which the page cannot renew. */
  readonly renewal: Renewal | null;
}

export interface Renewal {
  readonly signIn: SignInInfo;
  /** Null: the issuer gives none, so the user signs in again when the token has expired. */
  readonly refreshToken: string | null;
  /** Tells the issuer at the sign-out whose session ends. */
  readonly idToken: string | null;
  /** Milliseconds since 1970; null if the issuer does not say it. */
  readonly expiresAt: number | null;
}

const KEY = 'stepwright.credentials';
/** Says that a user has signed in with this browser, without the token: a new tab then asks the other tabs for it. */
const SIGNED_IN_KEY = 'stepwright.signed-in';

/** The credentials that this tab has kept for a reload. */
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
