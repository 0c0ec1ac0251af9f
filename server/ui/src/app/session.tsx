/**
 * The session of the user: a bearer token and what its scopes allow. All tabs of the browser share the token, until the
 * last one is closed.
 *
 * The page decodes the token only to show a name and to disable buttons; the server decides whether it is valid.
 */
import { createClient, isApiError, type StepwrightClient } from '@stepwright/sdk';
import {
  createContext,
  use,
  useCallback,
  useEffect,
  useMemo,
  useState,
  type ReactNode,
} from 'react';
import { announceCredentials, onCredentials, shareCredentials } from './hub.js';
import {
  isSignedIn,
  readCredentials,
  writeCredentials,
  type Credentials,
} from './sign-in/credentials.js';
import type { FinishedSignIn } from './sign-in/issuer.js';
import { comesFromIssuer, signOutAddress } from './sign-in/issuer-address.js';

export type Scope = 'viewer' | 'controller' | 'author' | 'worker' | 'admin';

export interface Session {
  readonly client: StepwrightClient;
  readonly token: string | null;
  /** The subject of the token; null if nobody has signed in. */
  readonly name: string | null;
  /** The same for a renewed token of the same user with the same scopes. */
  readonly identity: string;
  /** Why the sign-in form is shown; null while it is hidden. */
  readonly signInReason: string | null;
  /** Whether the token seems to have this scope. Without a token, the page allows everything. */
  readonly can: (scope: Scope) => boolean;
  readonly signIn: (token: string) => void;
  readonly signOut: () => void;
  /** Must be called with each failed call; a 401 shows the sign-in form. */
  readonly noticeFailure: (error: unknown) => void;
}

interface Claims {
  readonly issuer: string | null;
  readonly subject: string | null;
  readonly scopes: readonly string[];
}

const SessionContext = createContext<Session | null>(null);

export function useSession(): Session {
  const session = use(SessionContext);
  if (session === null) throw new Error('useSession requires a SessionProvider');
  return session;
}

export function SessionProvider({ children }: { readonly children: ReactNode }): ReactNode {
  const [credentials, setCredentials] = useState(readCredentials);
  const token = credentials?.token ?? null;
  const [signInReason, setSignInReason] = useState(signInProblem);
  const take = useCallback((next: Credentials | null) => {
    writeCredentials(next);
    setCredentials(next);
    setSignInReason(next === null ? 'You have signed out.' : null);
  }, []);
  const signIn = useCallback(
    (entered: string) => {
      const next = { token: entered, renewal: null };
      take(next);
      announceCredentials(next);
    },
    [take],
  );
  const signOut = useCallback(() => {
    const renewal = readCredentials()?.renewal ?? null;
    take(null);
    announceCredentials(null);
    const address = renewal === null ? null : signOutAddress(renewal);
    if (address !== null) window.location.assign(address);
  }, [take]);
  useEffect(() => onCredentials(take), [take]);
  const noticeFailure = useCallback((error: unknown) => {
    if (!isApiError(error) || error.status !== 401) return;
    setSignInReason(
      readCredentials() === null
        ? 'This server requires a token.'
        : 'The server rejected the token. It may have expired.',
    );
  }, []);
  const session = useMemo<Session>(() => {
    const claims = token === null ? null : readClaims(token);
    const client = createClient({
      baseUrl: window.location.origin,
      integers: 'bigint',
      ...(token !== null && { token }),
      retry: { limit: 2 },
    });
    return {
      client,
      token,
      signInReason,
      signIn,
      signOut,
      noticeFailure,
      identity: identityOf(token, claims),
      name: claims?.subject ?? (token === null ? null : 'token'),
      can: (scope) =>
        claims === null ||
        claims.scopes.includes('conductor:admin') ||
        // With a prefix, the server decides for each target.
        claims.scopes.some((each) => `${each}:`.startsWith(`conductor:${scope}:`)),
    };
  }, [token, signInReason, signIn, signOut, noticeFailure]);
  return <SessionContext value={session}>{children}</SessionContext>;
}

/** Null if the page can't decode the token, so that only the server can decide. */
function readClaims(token: string): Claims | null {
  try {
    const part = (token.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/');
    const bytes = Uint8Array.from(atob(part), (letter) => letter.charCodeAt(0));
    const payload: unknown = JSON.parse(new TextDecoder().decode(bytes));
    if (typeof payload !== 'object' || payload === null) return null;
    const subject = 'sub' in payload && typeof payload.sub === 'string' ? payload.sub : null;
    const issuer = 'iss' in payload && typeof payload.iss === 'string' ? payload.iss : null;
    const scope = 'scope' in payload ? payload.scope : '';
    const scopes = Array.isArray(scope) ? scope.map(String) : String(scope).split(' ');
    return { issuer, subject, scopes };
  } catch {
    return null;
  }
}

function identityOf(token: string | null, claims: Claims | null): string {
  if (claims === null || claims.subject === null) return token ?? '';
  const { issuer, subject, scopes } = claims;
  return [issuer ?? '', subject, ...[...scopes].sort()].join('\n');
}

/**
 * Finishes a sign-in that comes back from the issuer, gets the credentials of the other tabs, and offers them this tab's.
 * Call it before the page is shown.
 */
export async function joinSession(): Promise<void> {
  const finished = await finishAtIssuer().catch((error: unknown) => {
    window.history.replaceState(null, '', '/ui/');
    signInProblem = `The sign-in failed: ${error instanceof Error ? error.message : String(error)}`;
    return null;
  });
  const own = finished?.credentials ?? readCredentials();
  // If sign-in isn't used, the page doesn't have to wait for an answer.
  if (own === null && !isSignedIn()) return;
  if (finished === null) {
    const shared = await shareCredentials(own);
    writeCredentials(shared);
    return;
  }
  writeCredentials(own);
  announceCredentials(own);
  if (finished.isPopup) window.close();
  window.history.replaceState(null, '', finished.path);
}

/** The code for sign-ins is loaded only when it is needed. */
async function finishAtIssuer(): Promise<FinishedSignIn | null> {
  if (!comesFromIssuer()) return null;
  const { finishSignIn } = await import('./sign-in/issuer.js');
  return finishSignIn();
}

/** Why the last sign-in with the issuer failed; shown once. */
let signInProblem: string | null = null;
