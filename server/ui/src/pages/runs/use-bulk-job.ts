/** Controls many runs in batches, so that the user can follow the progress and stop it. */
import type { ControlAction, StepwrightClient } from '@stepwright/sdk';
import { useCallback, useEffect, useRef, useState } from 'react';
import { useSession } from '../../app/session.js';
import type { RunQuery } from './run-filter.js';

/** The maximum per call. */
const BATCH_SIZE = 100;

export interface BulkProgress {
  readonly action: ControlAction;
  /** Null if the total is unknown. */
  readonly total: number | null;
  readonly done: number;
  /** Runs whose status does not allow the action. */
  readonly refused: number;
  readonly missing: number;
  readonly state: 'running' | 'stopping' | 'stopped' | 'finished' | 'failed';
  readonly error: unknown;
}

/** The runs to control: a list of ids, or all that match a filter. */
export type BulkTarget =
  | { readonly ids: readonly string[] }
  /** `total` is null if there were too many runs to count. */
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
  const { client } = useSession();
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
        for await (const ids of batches(client, target)) {
          if (signal.aborted) break;
          const results = await client.workflows.control(action, ids, { compensate });
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
    [client, onChanged],
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
  client: StepwrightClient,
  target: BulkTarget,
): AsyncGenerator<readonly string[], void, undefined> {
  if ('ids' in target) {
    for (let at = 0; at < target.ids.length; at += BATCH_SIZE) {
      yield target.ids.slice(at, at + BATCH_SIZE);
    }
    return;
  }
  // Excludes runs that start in the meantime; otherwise, the job might never end.
  const { startedTo = new Date().toISOString() } = target.query;
  // Controlling runs can move them to a later page; each is controlled only once.
  const seen = new Set<string>();
  const runs = client.workflows.list({ ...target.query, startedTo, limit: BATCH_SIZE });
  for await (const { items } of runs.pages()) {
    const ids = items.map(({ workflowId }) => workflowId).filter((id) => !seen.has(id));
    ids.forEach((id) => seen.add(id));
    if (ids.length > 0) yield ids;
  }
}
