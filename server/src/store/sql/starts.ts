/** Starts that join a window: see ../records/windows.ts. Each store inserts instances in its own way. */
import type { InsertInstance } from '../records/instances.js';
import { change, selectOne, type SqlOperations, type SqlSteps } from './statements.js';

export const START_OPERATIONS = {
  *forgetJoinedStart([id, instanceId]) {
    yield* change('DELETE FROM @joined_starts WHERE id = ? AND instanceId = ?', id, instanceId);
  },
} satisfies SqlOperations;

/** The id of the open instance whose window a start joins; null: there is none. */
export function* openWindow({
  record: { definitionId },
  window,
}: Pick<InsertInstance, 'record' | 'window'>): SqlSteps<string | null> {
  if (window === undefined) return null;
  const text = `SELECT id FROM @instances INDEXED BY instances_window
    WHERE definitionId = ? AND debounceKey = ? {AND debounceKey IS NOT NULL} AND status IN ('Runnable', 'Suspended') LIMIT 1`;
  return (yield* selectOne(text, definitionId, window))?.text('id') ?? null;
}
