/**
 * One stream of changes for the whole page. Components listen with `useLive`; while the stream is not connected, they
 * poll every few seconds (`usePollInterval`).
 */
import {
  isApiError,
  type Change,
  type ChangedWorkflow,
  type StepwrightClient,
} from '@stepwright/sdk';
import { createContext, use, useEffect, useMemo, useRef, useState, type ReactNode } from 'react';
import { useSession } from './session.js';
import { useThrottled } from './use-throttled.js';

/** `refused`: the server does not let this user read the stream, and retrying would not help. */
export type LiveState = 'connecting' | 'live' | 'reconnecting' | 'refused';

/** The changes since the last call of the listener; several changes of one run are merged. */
export interface LiveBatch {
  readonly workflows: ReadonlyMap<string, ChangedWorkflow>;
  readonly definitions: ReadonlySet<string>;
  /** Some changes are missing: lists must be fetched again. */
  readonly lag: boolean;
}

type Listener = (batch: LiveBatch) => void;

interface Live {
  readonly state: LiveState;
  /** The server's error in the state `refused`. */
  readonly refusal: unknown;
  readonly listeners: Set<Listener>;
}

/** The SDK gives up if it cannot connect at all; the page then tries again after this time. */
const RECONNECT_MS = 5000;
/** The minimum time between two updates of the page. */
const FLUSH_MS = 200;
/** The minimum time between two fetches of a list that changes along with runs. */
const REREAD_MS = 3000;
/** How often lists are fetched while the stream is not connected. */
const POLL_MS = 5000;
/** How often polls by workers and the load of nodes are fetched: they come with heartbeats, which the stream omits. */
const SLOW_POLL_MS = 15_000;

const LiveContext = createContext<Live>({
  state: 'connecting',
  refusal: null,
  listeners: new Set(),
});

/** Calls the listener at most a few times a second while the component is mounted. */
export function useLive(listener: Listener): void {
  const { listeners } = use(LiveContext);
  const newest = useRef(listener);
  useEffect(() => {
    newest.current = listener;
  });
  useEffect(() => {
    const call: Listener = (batch) => newest.current(batch);
    listeners.add(call);
    return () => void listeners.delete(call);
  }, [listeners]);
}

export function useLiveState(): LiveState {
  return use(LiveContext).state;
}

/** Why the server refuses the stream; null unless it does. */
export function useRefusal(): unknown {
  return use(LiveContext).refusal;
}

/** Calls `reread` when anything changes, at most every few seconds. */
export function useRereadOnChange(reread: () => void): void {
  const soon = useThrottled(reread, REREAD_MS);
  useLive(({ workflows, lag }) => {
    if (lag || workflows.size > 0) soon();
  });
}

/** For `refetchInterval`: polls while the stream is not connected, unless the server refuses it. */
export function usePollInterval(): number | false {
  const state = useLiveState();
  return state === 'live' || state === 'refused' ? false : POLL_MS;
}

/** For data that the stream covers only in part: polls slowly while the stream is connected. */
export function useSlowPollInterval(): number | false {
  const poll = usePollInterval();
  return useLiveState() === 'live' ? SLOW_POLL_MS : poll;
}

export function LiveProvider({ children }: { readonly children: ReactNode }): ReactNode {
  const { client, signInReason, noticeFailure } = useSession();
  const [{ state, refusal }, setState] = useState<LiveStatus>(CONNECTING);
  const [listeners] = useState(() => new Set<Listener>());
  const isSignedOut = signInReason !== null;
  useEffect(() => {
    if (isSignedOut) return undefined;
    const stop = new AbortController();
    const batches = new BatchBuffer((batch) => listeners.forEach((listener) => listener(batch)));
    void stayConnected({
      client,
      signal: stop.signal,
      batches,
      noticeFailure,
      onState: (next) => {
        if (!stop.signal.aborted) setState(next);
      },
    });
    return () => {
      stop.abort();
      batches.close();
    };
  }, [client, noticeFailure, isSignedOut, listeners]);
  const live = useMemo(() => ({ state, refusal, listeners }), [state, refusal, listeners]);
  return <LiveContext value={live}>{children}</LiveContext>;
}

type LiveStatus = Pick<Live, 'state' | 'refusal'>;
const CONNECTING: LiveStatus = { state: 'connecting', refusal: null };

interface Connection {
  readonly client: StepwrightClient;
  readonly signal: AbortSignal;
  readonly batches: BatchBuffer;
  readonly noticeFailure: (error: unknown) => void;
  /** Not called after `signal` is aborted. */
  readonly onState: (status: LiveStatus) => void;
}

async function stayConnected(connection: Connection): Promise<void> {
  const { client, signal, batches, noticeFailure, onState } = connection;
  const onConnection = (isConnected: boolean): void => {
    // The stream does not report earlier changes, so everything fetched before may be stale.
    if (isConnected) batches.add({ type: 'lag' });
    onState({ state: isConnected ? 'live' : 'reconnecting', refusal: null });
  };
  onState(CONNECTING);
  while (!signal.aborted) {
    try {
      for await (const change of client.stream({ signal, onConnection })) batches.add(change);
    } catch (error) {
      noticeFailure(error);
      if (isRefusal(error)) {
        onState({ state: 'refused', refusal: error });
        return;
      }
    }
    await pause(RECONNECT_MS, signal);
  }
}

/** Whether the server rejects the token, or asks for one. A new token makes a new connection. */
function isRefusal(error: unknown): boolean {
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

/** Collects changes, so that a busy server does not make the page render all the time. */
class BatchBuffer {
  readonly #onBatch: Listener;
  #workflows = new Map<string, ChangedWorkflow>();
  #definitions = new Set<string>();
  #lag = false;
  #timer: ReturnType<typeof setTimeout> | null = null;

  constructor(onBatch: Listener) {
    this.#onBatch = onBatch;
  }

  add(change: Change): void {
    if (change.type === 'lag') this.#lag = true;
    else if (change.type === 'definition') this.#definitions.add(change.id);
    else this.#workflows.set(change.workflow.workflowId, change.workflow);
    this.#timer ??= setTimeout(() => this.#flush(), FLUSH_MS);
  }

  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  #flush(): void {
    const batch = { workflows: this.#workflows, definitions: this.#definitions, lag: this.#lag };
    this.#workflows = new Map();
    this.#definitions = new Set();
    this.#lag = false;
    this.#timer = null;
    this.#onBatch(batch);
  }
}
