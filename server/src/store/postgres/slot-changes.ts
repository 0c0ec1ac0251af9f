/**
 * The slots of commits and inserts (rule S15): a transaction that first takes the locks of all their keys, before any row. If some are
 * refused, nothing else of the commit or insert happens.
 */
import type { NewActivityRecord } from '../records/activities.js';
import type { CommitOutcome, InsertInstance, InstanceCommit } from '../records/instances.js';
import { slotsKeyOf, type RefusedSlots } from '../records/slots.js';
import { needsText } from '../sql/activities.js';
import type { Columns } from '../sql/columns.js';
import { DEFAULT_PRIORITY } from '../../engine/model/start-options.js';
import { fairnessOf, priorityOf } from '../sql/instances.js';
import {
  changeSlots,
  slotKeysOf,
  waitsAfter,
  type ChangedSlots,
  type Taking,
} from '../sql/slot-changes.js';
import { encodeTextWithoutNul } from '../text-codec.js';
import type { Database, Statements } from './database.js';
import { lockKeys } from './key-locks.js';
import { Parameters } from './parameters.js';
import { runSteps } from './shared-operations.js';

/** Ends the transaction without effect. */
class SlotsRefused extends Error {
  readonly refused: readonly RefusedSlots[];

  constructor(refused: readonly RefusedSlots[]) {
    super('The slots were refused');
    this.refused = refused;
  }
}

/** @param write writes the commit, and returns its outcome */
export async function commitSlots(
  database: Database,
  commit: InstanceCommit,
  write: (statements: Statements) => Promise<readonly CommitOutcome[]>,
): Promise<CommitOutcome> {
  try {
    const changed = await database.transaction(async (statements) => {
      await lockKeys(statements, slotKeysOf(commit).map(slotsKeyOf));
      const added = await addedBy(statements, commit);
      const [outcome] = await write(statements);
      return outcome === 'committed' ? change(statements, commit, added) : null;
    });
    if (changed === null) return 'lost';
    // An execution that waits since then asks for a grant after this.
    const waits = await runSteps(database, waitsAfter(commit, changed.limitedBy));
    return commit.slots === undefined && waits.length === 0
      ? 'committed'
      : { outcome: 'committed', waits };
  } catch (error) {
    if (error instanceof SlotsRefused) return { outcome: 'refused', refused: error.refused };
    throw error;
  }
}

async function change(
  statements: Statements,
  commit: InstanceCommit,
  added: readonly NewActivityRecord[],
): Promise<ChangedSlots> {
  const { id: instanceId, lastChangeAt: now, slots } = commit;
  const isPlaced = slots !== undefined && slots.take.length + slots.wait.length > 0;
  const position = isPlaced ? await readPosition(statements, instanceId) : NO_POSITION;
  const steps = changeSlots(commit, added, { ...position, instanceId, now });
  const changed = await runSteps(statements, steps);
  if (changed.refused.length > 0) throw new SlotsRefused(changed.refused);
  return changed;
}

type Position = Pick<Taking, 'priority' | 'fairness'>;

const NO_POSITION: Position = { priority: DEFAULT_PRIORITY, fairness: null };

async function readPosition(statements: Statements, id: string): Promise<Position> {
  const text = 'SELECT priority, fairness_key, fairness_weight FROM @instances WHERE id = $1';
  const [row] = await statements.query(text, [encodeTextWithoutNul(id)]);
  if (row === undefined) throw new TypeError(`The instance ${id} does not exist`);
  return { priority: priorityOf(row), fairness: fairnessOf(row) };
}

/** After the instance and its items have been inserted, under the locks. */
export function insertSlots(
  statements: Statements,
  insert: InsertInstance,
  added: readonly NewActivityRecord[],
): Promise<ChangedSlots> {
  const { fairness, id: instanceId, priority, lastChangeAt: now } = insert.record;
  const taking = { instanceId, priority, fairness, now };
  return runSteps(statements, changeSlots(insert, added, taking));
}

const SAME: Columns<NewActivityRecord> = {
  id: ['text', ({ id }) => id],
  name: ['text', ({ name }) => name],
  parameters: ['text', ({ parameters }) => parameters],
};

/** Before they are written: the items that need slots, without those that exist with the same content. */
export async function addedBy(
  statements: Statements,
  { side }: Pick<InstanceCommit, 'side'>,
): Promise<readonly NewActivityRecord[]> {
  const items = side.activities.filter((item) => needsText(item) !== null);
  if (items.length === 0) return [];
  const parameters = new Parameters();
  const same = await statements.query(
    `SELECT a.id FROM @activities AS a JOIN ${parameters.rows('g', items, SAME)}
       ON g.id = a.id AND g.name = a.name AND g.parameters = a.parameters`,
    parameters.values,
  );
  const known = new Set(same.map((row) => row.text('id')));
  return items.filter(({ id }) => !known.has(id));
}
