/** The slots of commits and inserts. If some are refused, nothing else of the commit or insert happens. */
import { DEFAULT_PRIORITY } from '../../../engine/model/start-options.js';
import type { NewActivityRecord } from '../../records/activities.js';
import type { CommitOutcome, InsertInstance, InstanceCommit } from '../../records/instances.js';
import type { LimitKey, RefusedSlots } from '../../records/slots.js';
import { fairnessOf, priorityOf } from '../../sql/instances.js';
import {
  changeSlots,
  mayBeRefused,
  rulesNeeded,
  waitsAfter,
  type ChangedSlots,
  type Slotted,
  type Taking,
} from '../../sql/slot-changes.js';
import { encodeText } from '../../text-codec.js';
import type { Database } from '../database.js';
import { runSteps } from '../shared-operations.js';

type Write = (database: Database, commit: InstanceCommit) => readonly NewActivityRecord[] | null;

export function commitSlots(
  database: Database,
  commit: InstanceCommit,
  write: Write,
): CommitOutcome {
  const work = (undo: () => void): CommitOutcome => {
    const added = write(database, commit);
    if (added === null) return 'lost';
    const { refused, waits } = changed(database, commit, added);
    if (refused.length > 0) {
      undo();
      return { outcome: 'refused', refused };
    }
    return commit.slots === undefined && waits.length === 0
      ? 'committed'
      : { outcome: 'committed', waits };
  };
  return mayBeRefused(commit) ? database.undoable(work) : work(() => undefined);
}

function changed(
  database: Database,
  commit: InstanceCommit,
  added: readonly NewActivityRecord[],
): { readonly refused: readonly RefusedSlots[]; readonly waits: readonly LimitKey[] } {
  const { id: instanceId, lastChangeAt: now, slots } = commit;
  const isPlaced = slots !== undefined && slots.take.length + slots.wait.length > 0;
  const position = isPlaced ? readPosition(database, instanceId) : NO_POSITION;
  const taking = { ...position, instanceId, now };
  const { limitedBy, refused } = changeWith(database, commit, added, taking);
  const waits = refused.length > 0 ? [] : runSteps(database, waitsAfter(commit, limitedBy));
  return { refused, waits };
}

type Position = Pick<Taking, 'priority' | 'fairness'>;

const NO_POSITION: Position = { priority: DEFAULT_PRIORITY, fairness: null };

function readPosition(database: Database, id: string): Position {
  const row = database.get(
    'SELECT priority, fairnessKey, fairnessWeight FROM instances WHERE id = ?',
    encodeText(id),
  );
  if (row === null) throw new TypeError(`The instance ${id} does not exist`);
  return { priority: priorityOf(row), fairness: fairnessOf(row) };
}

/** After the instance and its items have been inserted. */
export function insertSlots(
  database: Database,
  insert: InsertInstance,
  added: readonly NewActivityRecord[],
): { readonly refused: readonly RefusedSlots[]; readonly limitedBy: readonly LimitKey[] } {
  const { fairness, id: instanceId, priority, lastChangeAt: now } = insert.record;
  return changeWith(database, insert, added, { instanceId, priority, fairness, now });
}

function changeWith(
  database: Database,
  slotted: Slotted,
  added: readonly NewActivityRecord[],
  taking: Taking,
): ChangedSlots {
  const rules = runSteps(database, rulesNeeded([slotted]));
  return runSteps(database, changeSlots(rules, slotted, added, taking));
}
