/**
 * Server changes for all components of the page. Components listen with `useLive`; while the stream is disconnected, they poll
 * every few seconds (`usePollInterval`).
 */
import {
  createContext,
  use,
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
  type ReactNode,
} from 'react';
import type { LiveBatch } from './change-batch.js';
import { CONNECTING, type LiveState, type StreamStatus } from './follow-stream.js';
import { followChanges } from './hub.js';
import { useSession } from './session.js';
import { useThrottled } from './use-throttled.js';

type Listener = (batch: LiveBatch) => void;

interface Live {
  readonly state: LiveState;
  /** The server's error in the state `refused`. */
  readonly refusal: unknown;
  /** Whether the stream has been connected with this session. */
  readonly hasBeenLive: boolean;
  /** Whether the pages may fetch: data fetched before the stream is connected must be fetched again. */
  readonly isSettled: boolean;
  readonly listeners: Set<Listener>;
}

/** The minimum time between two fetches of a list that changes along with runs. */
const REREAD_MS = 3000;
/** How often lists are fetched while the stream is disconnected. */
const POLL_MS = 5000;
/** How long the pages wait for the stream before they fetch. */
const SETTLE_MS_MAX = 1000;
/** How often polls by workers and the load of nodes are fetched: they come with heartbeats, which the stream omits. */
const SLOW_POLL_MS = 15_000;

const LiveContext = createContext<Live>({
  state: 'connecting',
  refusal: null,
  hasBeenLive: false,
  isSettled: true,
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

/** Why the server rejects the stream; null if it doesn't. */
export function useRefusal(): unknown {
  return use(LiveContext).refusal;
}

export function useHasBeenLive(): boolean {
  return use(LiveContext).hasBeenLive;
}

/** False for a moment after the page is loaded, while the stream is being connected. */
export function useIsSettled(): boolean {
  return use(LiveContext).isSettled;
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

/** For data that the stream covers only partially: polls slowly while the stream is connected. */
export function useSlowPollInterval(): number | false {
  const poll = usePollInterval();
  return useLiveState() === 'live' ? SLOW_POLL_MS : poll;
}

export function LiveProvider({ children }: { readonly children: ReactNode }): ReactNode {
  const { token, signInReason, noticeFailure } = useSession();
  const [{ state, refusal }, setStatus] = useState<StreamStatus>(CONNECTING);
  const [hasBeenLive, setBeenLive] = useState(false);
  const [listeners] = useState(() => new Set<Listener>());
  const { isSettled, settle } = useSettling();
  const isSignedOut = signInReason !== null;
  useEffect(() => {
    if (isSignedOut) return undefined;
    const tell: Listener = (batch) => listeners.forEach((listener) => listener(batch));
    return followChanges(token, {
      onBatch: tell,
      onStatus: (status) => {
        setStatus(status);
        if (status.refusal !== null) noticeFailure(status.refusal);
        if (status.state === 'connecting') return;
        if (status.state === 'live') setBeenLive(true);
        // The stream does not report earlier changes, so everything fetched before may be stale.
        if (settle() && status.state === 'live') tell(MISSED);
      },
    });
  }, [token, noticeFailure, isSignedOut, listeners, settle]);
  const live = useMemo(
    () => ({ state, refusal, hasBeenLive, isSettled, listeners }),
    [state, refusal, hasBeenLive, isSettled, listeners],
  );
  return <LiveContext value={live}>{children}</LiveContext>;
}

const MISSED: LiveBatch = { workflows: new Map(), definitions: new Set(), lag: true };

function useSettling() {
  const [isSettled, setSettled] = useState(false);
  const wasSettled = useRef(false);
  /** Returns whether the pages could fetch before. */
  const settle = useCallback(() => {
    const before = wasSettled.current;
    wasSettled.current = true;
    setSettled(true);
    return before;
  }, []);
  useEffect(() => {
    const timer = setTimeout(settle, SETTLE_MS_MAX);
    return () => clearTimeout(timer);
  }, [settle]);
  return { isSettled, settle };
}
