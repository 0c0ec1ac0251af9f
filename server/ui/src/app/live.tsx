/**
 * One stream of changes for the whole page. Pages listen with `useLive`; while there is no stream (`isLive` false) they
 * ask again every few seconds.
 */
import type { WorkflowSummary } from '@stepwright/sdk';
import { createContext, use, useEffect, useMemo, useRef, useState, type ReactNode } from 'react';
import { readEvents, type StreamEvent } from './live-stream.js';
import { useSession } from './session.js';

export type LiveState = 'connecting' | 'live' | 'reconnecting';

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
  readonly listeners: Set<Listener>;
}

const RECONNECT_MS = [500, 1000, 2000, 5000];
/** How often the page may change. */
const FLUSH_MS = 200;
/** How often lists are asked for while there is no stream. */
const POLL_MS = 5000;

const LiveContext = createContext<Live>({ state: 'connecting', listeners: new Set() });

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

/** For `refetchInterval`: only while the stream does not tell. */
export function usePollInterval(): number | false {
  return useLiveState() === 'live' ? false : POLL_MS;
}

export function LiveProvider({ children }: { readonly children: ReactNode }): ReactNode {
  const { token, signInReason } = useSession();
  const [state, setState] = useState<LiveState>('connecting');
  const [listeners] = useState(() => new Set<Listener>());
  const isSignedOut = signInReason !== null;
  useEffect(() => {
    if (isSignedOut) return undefined;
    const stop = new AbortController();
    const batches = new BatchBuffer((batch) => listeners.forEach((listener) => listener(batch)));
    void stayConnected({
      token,
      signal: stop.signal,
      batches,
      onState: (next) => {
        if (!stop.signal.aborted) setState(next);
      },
    });
    return () => {
      stop.abort();
      batches.close();
    };
  }, [token, isSignedOut, listeners]);
  const live = useMemo(() => ({ state, listeners }), [state, listeners]);
  return <LiveContext value={live}>{children}</LiveContext>;
}

interface Connection {
  readonly token: string | null;
  readonly signal: AbortSignal;
  readonly batches: BatchBuffer;
  /** No more after `signal`. */
  readonly onState: (state: LiveState) => void;
}

async function stayConnected({ token, signal, batches, onState }: Connection): Promise<void> {
  const seen = { failures: 0, wasLive: false };
  while (!signal.aborted) {
    try {
      for await (const event of readEvents('/api/stream', {
        ...{ token, signal },
        onOpen: () => {
          // What changed before is not told: what was read until now may be old.
          batches.add({ name: 'lag', data: {} });
          seen.wasLive = true;
          seen.failures = 0;
          onState('live');
        },
      })) {
        batches.add(event);
      }
    } catch {
      // The state says it, and the next attempt follows.
    }
    onState(seen.wasLive ? 'reconnecting' : 'connecting');
    const pauseMs = RECONNECT_MS[Math.min(seen.failures, RECONNECT_MS.length - 1)] ?? POLL_MS;
    seen.failures += 1;
    await pause(pauseMs, signal);
  }
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

  add({ name, data }: StreamEvent): void {
    if (name === 'lag') this.#lag = true;
    else if (name === 'workflow' && isWorkflow(data)) this.#workflows.set(data.workflowId, data);
    else if (name === 'definition' && hasId(data)) this.#definitions.add(data.id);
    else return;
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

function isWorkflow(data: unknown): data is WorkflowSummary {
  return (
    typeof data === 'object' &&
    data !== null &&
    'workflowId' in data &&
    typeof data.workflowId === 'string' &&
    'status' in data
  );
}

function hasId(data: unknown): data is { readonly id: string } {
  return typeof data === 'object' && data !== null && 'id' in data && typeof data.id === 'string';
}
