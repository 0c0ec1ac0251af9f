import { useCallback, useEffect, useRef } from 'react';

/** Throttles `call`: the first call runs at once; calls during the pause are merged into one at its end. */
export function useThrottled(call: () => void, pauseMs: number): () => void {
  const newest = useRef(call);
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
  const isWanted = useRef(false);
  useEffect(() => {
    newest.current = call;
  });
  useEffect(
    () => () => {
      if (timer.current !== null) clearTimeout(timer.current);
      timer.current = null;
    },
    [],
  );
  return useCallback(() => {
    const run = (): void => {
      isWanted.current = false;
      newest.current();
      timer.current = setTimeout(() => {
        timer.current = null;
        if (isWanted.current) run();
      }, pauseMs);
    };
    if (timer.current === null) run();
    else isWanted.current = true;
  }, [pauseMs]);
}
