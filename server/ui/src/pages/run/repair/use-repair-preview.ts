/** Previews a modification on the server. */
import { stringifyJson, type RepairedWorkflow, type Workflow } from '@stepwright/sdk';
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { useSession } from '../../../app/session.js';
import { useSettled } from '../../../components/use-settled.js';
import type { Modification } from './repair-plan.js';

/** An open run may change while the user decides. */
const AGAIN_MS = 5000;

export interface RepairPreviewState {
  readonly result: RepairedWorkflow | undefined;
  readonly error: Error | null;
  /** The result belongs to an earlier plan. */
  readonly isStale: boolean;
}

export function useRepairPreview(
  { workflowId, endTime }: Workflow,
  modification: Modification | null,
  /** The modification is being applied: a preview of the repaired run would say that it is impossible. */
  isApplying: boolean,
): RepairPreviewState {
  const { client } = useSession();
  const queries = useQueryClient();
  useEffect(() => {
    if (isApplying) void queries.cancelQueries({ queryKey: ['run', workflowId, 'repair'] });
  }, [queries, workflowId, isApplying]);
  const text = modification === null ? null : stringifyJson(modification);
  const settled = useSettled(text);
  const isWanted = text !== null && settled === text;
  const preview = useQuery({
    queryKey: ['run', workflowId, 'repair', settled],
    queryFn: ({ signal }) => {
      const body = { ...modification, reason: 'preview', dryRun: true };
      return client.workflows.modify(workflowId, body, { signal });
    },
    enabled: isWanted && !isApplying,
    gcTime: 0,
    placeholderData: keepPreviousData,
    refetchInterval: endTime === null ? AGAIN_MS : false,
  });
  return {
    result: preview.data,
    error: isWanted ? preview.error : null,
    isStale: !isWanted || preview.isPlaceholderData,
  };
}
