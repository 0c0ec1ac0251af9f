/**
 * Why the open runs in a list don't advance. To keep lists cheap, they don't include the reason. The page requests it for the
 * visible rows, with one call for all of them, but not for runs that are changing right now.
 */
import type { Explanation, WorkflowSummary } from '@stepwright/sdk';
import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { useSession } from '../../app/session.js';
import { useThrottled } from '../../app/use-throttled.js';
import { useNow } from '../../components/time-ago.js';
import { explainTogether } from './explain-together.js';

/** A run that has changed less than this ago is probably about to change again. */
const REST_MS = 1000;
/** The minimum time between two requests about the same run. */
const AGAIN_MS = 5000;
/** Beyond this difference, the browser's and the server's clocks disagree. */
const CLOCK_MS = 5000;

type Asked = Pick<WorkflowSummary, 'workflowId' | 'lastChangeTime' | 'outcome'>;

/** Undefined if the run has ended, and until the response has arrived. */
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
    queryFn: ({ signal }) => explainTogether(client, workflowId, signal),
    enabled: isOpen && isAtRest,
    staleTime: Infinity,
    gcTime: 60_000,
  });
  const again = useThrottled(() => void refetch({ cancelRefetch: false }), AGAIN_MS);
  const isOld = data != null && data.time < lastChangeTime;
  useEffect(() => {
    if (isOpen && isAtRest && isOld) again();
  }, [again, isAtRest, isOld, isOpen, lastChangeTime]);
  return isOpen ? (data ?? undefined) : undefined;
}
