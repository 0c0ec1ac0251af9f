/** Controls many runs, batch after batch, so that it can be watched and stopped. */
import type { Page, WorkflowSummary } from '@stepwright/sdk';
import { useCallback, useEffect, useRef, useState } from 'react';
import type { ControlAction, OperatorApi, RunQuery } from '../../api/operator-api.js';
import { useSession } from '../../app/session.js';

/** As many as one call takes. */
const BATCH_SIZE = 100;

export interface BulkProgress {
  readonly action: ControlAction;
  /** Null where nobody knows before the end. */
  readonly total: number | null;
  readonly done: number;
  /** Not in a state in which it is possible. */
  readonly refused: number;
  readonly missing: number;
  readonly state: 'running' | 'stopping' | 'stopped' | 'finished' | 'failed';
  readonly error: unknown;
}

/** What is controlled: these runs, or every one of a filter. */
export type BulkTarget =
  | { readonly ids: readonly string[] }
  /** `total` is null where nobody has counted them to the end. */
  | { readonly query: RunQuery; readonly total: number | null };

export interface BulkControl {
  readonly action: ControlAction;
  /** Only for terminate. */
  readonly compensate: boolean;
}

export interface BulkJob {
  readonly progress: BulkProgress | null;
  readonly start: (control: BulkControl, target: BulkTarget) => void;
  readonly stop: () => void;
  readonly dismiss: () => void;
}

export function useBulkJob(onChanged: () => void): BulkJob {
  const { api } = useSession();
  const [progress, setProgress] = useState<BulkProgress | null>(null);
  const stop = useRef(new AbortController());
  useEffect(() => () => stop.current.abort(), []);

  const run = useCallback(
    async ({ action, compensate }: BulkControl, target: BulkTarget) => {
      stop.current = new AbortController();
      const { signal } = stop.current;
      setProgress({
        action,
        total: 'ids' in target ? target.ids.length : target.total,
        done: 0,
        refused: 0,
        missing: 0,
        state: 'running',
        error: null,
      });
      const end = (state: BulkProgress['state'], error: unknown = null): void =>
        setProgress((before) => before && { ...before, state, error });
      try {
        for await (const ids of batches(api, target)) {
          if (signal.aborted) break;
          const results = await api.control(action, ids, compensate);
          const count = (outcome: string): number =>
            results.filter((result) => result.outcome === outcome).length;
          setProgress(
            (before) =>
              before && {
                ...before,
                done: before.done + count('done'),
                refused: before.refused + count('refused'),
                missing: before.missing + count('missing'),
              },
          );
        }
        end(signal.aborted ? 'stopped' : 'finished');
      } catch (error) {
        end('failed', error);
      } finally {
        onChanged();
      }
    },
    [api, onChanged],
  );

  return {
    progress,
    start: (control, target) => void run(control, target),
    stop: () => {
      stop.current.abort();
      setProgress((before) => before && { ...before, state: 'stopping' });
    },
    dismiss: () => setProgress(null),
  };
}

async function* batches(
  api: OperatorApi,
  target: BulkTarget,
): AsyncGenerator<readonly string[], void, undefined> {
  if ('ids' in target) {
    for (let at = 0; at < target.ids.length; at += BATCH_SIZE) {
      yield target.ids.slice(at, at + BATCH_SIZE);
    }
    return;
  }
  // Runs that begin meanwhile are not meant, and would let this go on for ever.
  const { startedTo = new Date().toISOString() } = target.query;
  // A page that was changed would be missed if its runs counted twice, or endless if they came again.
  const seen = new Set<string>();
  let cursor: string | null = null;
  do {
    const page: Page<WorkflowSummary> = await api.listRuns({
      ...target.query,
      startedTo,
      limit: BATCH_SIZE,
      cursor: cursor ?? undefined,
    });
    const ids = page.items.map(({ workflowId }) => workflowId).filter((id) => !seen.has(id));
    ids.forEach((id) => seen.add(id));
    if (ids.length > 0) yield ids;
    cursor = page.nextCursor;
  } while (cursor !== null);
}
