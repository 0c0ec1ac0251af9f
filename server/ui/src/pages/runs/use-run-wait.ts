/**
 * Why the open runs of a list do not advance. The list itself does not tell, so that it costs little; the page asks for the
 * rows that it shows, a few at a time, and not for runs that are changing right now.
 */
import type { Explanation, WorkflowSummary } from '@stepwright/sdk';
import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { useSession } from '../../app/session.js';
import { useThrottled } from '../../app/use-throttled.js';
import { useNow } from '../../components/time-ago.js';

const AT_ONCE = 2;
/** A run that has changed less than this ago is probably about to change again. */
const REST_MS = 1000;
/** The minimum time between two questions about the same run. */
const AGAIN_MS = 5000;
/** Beyond this difference, the clocks of browser and server do not agree. */
const CLOCK_MS = 5000;

type Asked = Pick<WorkflowSummary, 'workflowId' | 'lastChangeTime' | 'outcome'>;

/** Undefined if the run has ended, and until the answer has arrived. */
export function useRunWait({
  lastChangeTime,
  outcome,
  workflowId,
}: Asked): Explanation | undefined {
  const { client } = useSession();
  const isOpen = outcome === null;
  const restMs = useNow() - Date.parse(lastChangeTime);
  const isAtRest = restMs > REST_MS || restMs < -CLOCK_MS;
  const { data, refetch } = useQuery({
    queryKey: ['wait of run', workflowId],
    queryFn: ({ signal }) =>
      inTurn(() => {
        signal.throwIfAborted();
        return client.workflows.explain(workflowId, { signal });
      }),
    enabled: isOpen && isAtRest,
    staleTime: Infinity,
    gcTime: 60_000,
  });
  const again = useThrottled(() => void refetch({ cancelRefetch: false }), AGAIN_MS);
  const isOld = data !== undefined && data.time < lastChangeTime;
  useEffect(() => {
    if (isOpen && isAtRest && isOld) again();
  }, [again, isAtRest, isOld, isOpen, lastChangeTime]);
  return isOpen ? data : undefined;
}

let underWay = 0;
const waiting: (() => void)[] = [];

/** Other calls of the page must not wait behind these. */
async function inTurn<Answer>(call: () => Promise<Answer>): Promise<Answer> {
  if (underWay >= AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve));
  else underWay += 1;
  try {
    return await call();
  } finally {
    const next = waiting.shift();
    if (next === undefined) underWay -= 1;
    else next();
  }
}
