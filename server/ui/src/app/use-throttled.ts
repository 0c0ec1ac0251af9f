import { useCallback, useEffect, useRef } from 'react';

/**
 * Throttles `call`: the first call runs at once; calls during the pause are merged into one at its end.
 *
 * @param pause in milliseconds, or a function, always the same, that gets how many calls followed one another without rest
 */
export function useThrottled(
  call: () => void,
  pause: number | ((inARow: number) => number),
): () => void {
  const newest = useRef(call);
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
  const isWanted = useRef(false);
  const inARow = useRef(0);
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
      inARow.current += 1;
      newest.current();
      const pauseMs = typeof pause === 'number' ? pause : pause(inARow.current);
      timer.current = setTimeout(() => {
        timer.current = null;
        if (isWanted.current) run();
        else inARow.current = 0;
      }, pauseMs);
    };
    if (timer.current === null) run();
    else isWanted.current = true;
  }, [pause]);
}
