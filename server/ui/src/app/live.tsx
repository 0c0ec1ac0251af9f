/**
 * One stream of changes for the whole page. Pages listen with `useLive`; while there is no stream (`isLive` false) they
 * ask again every few seconds.
 */
import {
  isApiError,
  type Change,
  type StepwrightClient,
  type WorkflowSummary,
} from '@stepwright/sdk';
import { createContext, use, useEffect, useMemo, useRef, useState, type ReactNode } from 'react';
import { useSession } from './session.js';
import { useThrottled } from './use-throttled.js';

/** `refused`: the server does not tell whoever looks; asking again would not mend it. */
export type LiveState = 'connecting' | 'live' | 'reconnecting' | 'refused';

/** What happened since the last call of a listener; many changes of one run are one. */
export interface LiveBatch {
  readonly workflows: ReadonlyMap<string, WorkflowSummary>;
  readonly definitions: ReadonlySet<string>;
  /** More has changed than is told here: lists are to be read again. */
  readonly lag: boolean;
}

type Listener = (batch: LiveBatch) => void;

interface Live {
  readonly state: LiveState;
  /** Of the state `refused`: what the server said. */
  readonly refusal: unknown;
  readonly listeners: Set<Listener>;
}

/** The SDK gives up a server that was never there; the page does not. */
const RECONNECT_MS = 5000;
/** How often the page may change. */
const FLUSH_MS = 200;
/** Lists of what changes together with runs are read again so often. */
const REREAD_MS = 3000;
/** How often lists are asked for while there is no stream. */
const POLL_MS = 5000;
/** Who asks for work, and the load of nodes, come with heartbeats that nobody is told of. */
const SLOW_POLL_MS = 15_000;

const LiveContext = createContext<Live>({
  state: 'connecting',
  refusal: null,
  listeners: new Set(),
});

/** Calls the listener a few times a second at most, while it is mounted. */
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

/** Why whoever looks may not; null while nothing was refused. */
export function useRefusal(): unknown {
  return use(LiveContext).refusal;
}

/** Reads again when anything changes, but not all the time. */
export function useRereadOnChange(reread: () => void): void {
  const soon = useThrottled(reread, REREAD_MS);
  useLive(({ workflows, lag }) => {
    if (lag || workflows.size > 0) soon();
  });
}

/** For `refetchInterval`: only while the stream does not tell, and not where the server refuses to. */
export function usePollInterval(): number | false {
  const state = useLiveState();
  return state === 'live' || state === 'refused' ? false : POLL_MS;
}

/** The same for what the stream tells in part only: then it is asked for now and then. */
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
  /** No more after `signal`. */
  readonly onState: (status: LiveStatus) => void;
}

async function stayConnected(connection: Connection): Promise<void> {
  const { client, signal, batches, noticeFailure, onState } = connection;
  const onConnection = (isConnected: boolean): void => {
    // What changed before is not told: what was read until now may be old.
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

/** Neither this token nor none will do; with another one there is another connection. */
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

/** Collects events, so that a busy server does not make the page draw without end. */
class BatchBuffer {
  readonly #onBatch: Listener;
  #workflows = new Map<string, WorkflowSummary>();
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
