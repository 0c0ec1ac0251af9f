/**
 * Outages of the server or its store. The shell shows a single banner; lists and forms don't repeat the error. During an outage,
 * failed calls are retried, so the banner disappears on its own.
 */
import { isApiError, isNetworkError, isTimeoutError } from '@stepwright/sdk';
import { useQueryClient, type QueryCache } from '@tanstack/react-query';
import { createContext, use, useEffect, useMemo, useState, type ReactNode } from 'react';
import { useLiveState } from './live.js';

interface Outage {
  /** Null if there is no outage. */
  readonly text: string | null;
  /** The errors that the banner represents. */
  readonly errors: ReadonlySet<unknown>;
}

const RETRY_MS = 3000;
/** A shorter interruption of the stream, for example by a proxy, isn't an outage. */
const STREAM_LOST_MS = 3000;
const SERVER_TEXT =
  'The server cannot be reached. The page shows what it last received, and retries every few seconds.';
const NONE: Outage = { text: null, errors: new Set() };

const OutageContext = createContext<Outage>(NONE);

export function useOutage(): Outage {
  return use(OutageContext);
}

export function OutageProvider({ children }: { readonly children: ReactNode }): ReactNode {
  const queries = useQueryClient();
  const errors = useOutageErrors(queries.getQueryCache());
  const isStreamLost = useIsStreamLost();
  const isOut = errors.size > 0;
  useEffect(() => {
    if (!isOut) return undefined;
    const timer = setInterval(() => {
      void queries.refetchQueries({
        type: 'active',
        predicate: ({ state }) => textOf(state.error) !== null,
      });
    }, RETRY_MS);
    return () => clearInterval(timer);
  }, [queries, isOut]);
  const outage = useMemo(() => {
    const texts = [...errors].map(textOf);
    const text = isStreamLost || texts.includes(SERVER_TEXT) ? SERVER_TEXT : (texts[0] ?? null);
    return { text, errors };
  }, [errors, isStreamLost]);
  return <OutageContext value={outage}>{children}</OutageContext>;
}

/** The errors of visible queries that indicate an outage. */
function useOutageErrors(cache: QueryCache): ReadonlySet<unknown> {
  const [errors, setErrors] = useState(NONE.errors);
  useEffect(() => {
    let shown = NONE.errors;
    const unsubscribe = cache.subscribe(() => {
      const found = cache
        .findAll({ type: 'active' })
        .map(({ state }) => state.error)
        .filter((error) => textOf(error) !== null);
      // React keeps each update until the next render, also one that changes nothing, and the cache changes all the time.
      if (shown.size === found.length && found.every((error) => shown.has(error))) return;
      shown = new Set(found);
      setErrors(shown);
    });
    return () => {
      unsubscribe();
      setErrors(NONE.errors);
    };
  }, [cache]);
  return errors;
}

function useIsStreamLost(): boolean {
  const isReconnecting = useLiveState() === 'reconnecting';
  const [isLost, setLost] = useState(false);
  useEffect(() => {
    if (!isReconnecting) return undefined;
    const timer = setTimeout(() => setLost(true), STREAM_LOST_MS);
    return () => {
      clearTimeout(timer);
      setLost(false);
    };
  }, [isReconnecting]);
  return isLost;
}

/** Null if the error doesn't indicate an outage. */
function textOf(error: unknown): string | null {
  if (isNetworkError(error) || isTimeoutError(error)) return SERVER_TEXT;
  if (!isApiError(error)) return null;
  switch (error.code) {
    case 'store_unavailable':
      return 'The server cannot reach its store. The page shows what it last received, and retries every few seconds.';
    case 'stopping':
      return 'The server is stopping. The page retries every few seconds.';
    default:
      return null;
  }
}

export function OutageBanner(): ReactNode {
  const { text } = useOutage();
  if (text === null) return null;
  return (
    <p className="outage" role="alert">
      {text}
    </p>
  );
}
