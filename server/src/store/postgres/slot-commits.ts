/** Groups of commits, and of inserts without a conflict rule, that change slots: see slot-changes.ts. */
import { DEFAULT_PRIORITY } from '../../engine/model/start-options.js';
import { GroupCommit } from '../group-commit.js';
import type { CommitOutcome, InsertInstance, InstanceCommit } from '../records/instances.js';
import { distinctKeys, keyIdOf, type LimitKey } from '../records/slots.js';
import { fairnessOf, priorityOf } from '../sql/instances.js';
import { freedBy, type Taking } from '../sql/slot-changes.js';
import { encodeTextWithoutNul } from '../text-codec.js';
import type { Database, Statements } from './database.js';
import { insertAll, sizeOfInsert } from './inserts.js';
import { commitAll, sizeOfCommit } from './instances.js';
import { lockKeys } from './key-locks.js';
import type { Groups, SlotInsertOutcome } from './postgres-context.js';
import { slotLocksOf, writeWithSlots } from './slot-changes.js';

export function createSlotCommitGroup(database: Database): Groups['slotCommits'] {
  return new GroupCommit({
    keyOf: ({ id }) => id,
    locksOf: commitLocksOf,
    sizeOf: sizeOfCommit,
    repeatLimits: database.repeatLimits,
    send: (commits) =>
      database.groupTransaction(async (statements) => {
        await lockKeys(statements, commits.flatMap(commitLocksOf));
        return commitWithSlots(statements, commits);
      }),
  });
}

/** The fairness key is stored with the instance. */
function commitLocksOf(commit: InstanceCommit): readonly string[] {
  return slotLocksOf(commit, true);
}

export function insertLocksOf(insert: InsertInstance): readonly string[] {
  return slotLocksOf(insert, insert.record.fairness !== null);
}

async function commitWithSlots(
  statements: Statements,
  commits: readonly InstanceCommit[],
): Promise<readonly CommitOutcome[]> {
  const { changed, waited } = await writeWithSlots(statements, commits, {
    write: async (some) => {
      const outcomes = await commitAll(statements, some);
      return some.filter((_, at) => outcomes[at] === 'committed');
    },
    takings: (written) => takingsOf(statements, written),
  });
  const isWaitedFor = new Set(waited.map(keyIdOf));
  return commits.map((commit) => {
    const slots = changed.get(commit);
    if (slots === undefined) return 'lost';
    if (slots.refused.length > 0) return { outcome: 'refused', refused: slots.refused };
    const freed = freedBy(commit).filter((on) => isWaitedFor.has(keyIdOf(on)));
    const waits = distinctKeys([...slots.limitedBy, ...freed]);
    return commit.slots === undefined && waits.length === 0
      ? 'committed'
      : { outcome: 'committed', waits };
  });
}

/** Only those that take or wait have a position. */
async function takingsOf(
  statements: Statements,
  commits: readonly InstanceCommit[],
): Promise<readonly Taking[]> {
  const placed = commits.filter(({ slots }) => slots && slots.take.length + slots.wait.length > 0);
  const positions = new Map<string, Pick<Taking, 'priority' | 'fairness'>>();
  if (placed.length > 0) {
    const text =
      'SELECT id, priority, fairness_key, fairness_weight FROM @instances WHERE id = ANY($1::text[])';
    const ids = placed.map(({ id }) => encodeTextWithoutNul(id));
    for (const row of await statements.query(text, [ids])) {
      const position = { priority: priorityOf(row), fairness: fairnessOf(row) };
      positions.set(row.text('id'), position);
    }
  }
  return commits.map(({ id: instanceId, lastChangeAt: now }) => {
    const position = positions.get(instanceId) ?? NO_POSITION;
    return { ...position, instanceId, now };
  });
}

const NO_POSITION: Pick<Taking, 'priority' | 'fairness'> = {
  priority: DEFAULT_PRIORITY,
  fairness: null,
};

export function createSlotInsertGroup(database: Database): Groups['slotInserts'] {
  return new GroupCommit({
    keyOf: ({ record }) => record.id,
    locksOf: insertLocksOf,
    sizeOf: sizeOfInsert,
    repeatLimits: database.repeatLimits,
    send: (inserts) =>
      database.groupTransaction(async (statements) => {
        await lockKeys(statements, inserts.flatMap(insertLocksOf));
        return insertWithSlots(statements, inserts);
      }),
  });
}

/** Under the locks of all keys. */
export async function insertWithSlots(
  statements: Statements,
  inserts: readonly InsertInstance[],
): Promise<readonly SlotInsertOutcome[]> {
  const { changed } = await writeWithSlots(statements, inserts, {
    write: async (some) => {
      const outcomes = await insertAll(statements, some);
      return some.filter((_, at) => outcomes[at] === 'inserted');
    },
    takings: (written) => Promise.resolve(written.map(takingOf)),
  });
  return inserts.map((insert) => {
    const slots = changed.get(insert);
    if (slots === undefined) return 'not-inserted';
    if (slots.refused.length > 0) return { outcome: 'no-slots', refused: slots.refused };
    const waits: readonly LimitKey[] = slots.limitedBy;
    return waits.length > 0 ? { outcome: 'inserted', waits } : 'inserted';
  });
}

function takingOf({ record }: InsertInstance): Taking {
  const { fairness, id: instanceId, lastChangeAt: now, priority } = record;
  return { instanceId, priority, fairness, now };
}
