/** Follows the server's change stream until stopped, in a tab or in the shared worker of all tabs. */
import { createClient, isApiError, type ApiError, type Change } from '@stepwright/sdk';

/** `refused`: the server doesn't allow this user to read the stream, and retrying wouldn't help. */
export type LiveState = 'connecting' | 'live' | 'reconnecting' | 'refused';

export interface StreamStatus {
  readonly state: LiveState;
  /** The server's error in the state `refused`. */
  readonly refusal: ApiError | null;
}

export const CONNECTING: StreamStatus = { state: 'connecting', refusal: null };

export interface StreamListener {
  readonly onChange: (change: Change) => void;
  /** Sent with `live` after each connection: the listener may have missed earlier changes. */
  readonly onStatus: (status: StreamStatus) => void;
}

/** The delay before the next attempt after the SDK has failed to connect at all. */
const RECONNECT_MS = 5000;

/** Calls the listener until the signal is aborted, and not after that. */
export async function followStream(
  token: string | null,
  signal: AbortSignal,
  { onChange, onStatus }: StreamListener,
): Promise<void> {
  const client = createClient({
    baseUrl: location.origin,
    ...(token !== null && { token }),
    retry: { limit: 2 },
  });
  const say = (status: StreamStatus): void => {
    if (!signal.aborted) onStatus(status);
  };
  const onConnection = (isConnected: boolean): void => {
    say({ state: isConnected ? 'live' : 'reconnecting', refusal: null });
  };
  say(CONNECTING);
  while (!signal.aborted) {
    try {
      for await (const change of client.stream({ signal, onConnection })) onChange(change);
    } catch (error) {
      if (isRefusal(error)) {
        say({ state: 'refused', refusal: error });
        return;
      }
    }
    await pause(RECONNECT_MS, signal);
  }
}

/** Whether the server rejects the token or requires one. A new token creates a new connection. */
function isRefusal(error: unknown): error is ApiError {
  return isApiError(error) && (error.status === 401 || error.status === 403);
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
