/**
 * The slots of commits and inserts (rule S15). Those that arrive at the same moment share a transaction, which first takes the locks of
 * all their keys, before any row. All are written, and their slots are changed one after the other. If some are refused, everything is
 * undone, and the others are written again: under the locks, they get what they got before.
 */
import type { NewActivityRecord } from '../records/activities.js';
import { slotsKeyOf, type LimitKey } from '../records/slots.js';
import { needsText } from '../sql/activities.js';
import type { Columns } from '../sql/columns.js';
import {
  changeSlots,
  freedBy,
  mayBeRefused,
  rulesNeeded,
  slotKeysOf,
  waitKeysOf,
  type ChangedSlots,
  type Slotted,
  type Taking,
} from '../sql/slot-changes.js';
import type { Rules } from '../sql/slot-rows.js';
import { waitedText } from '../sql/slot-lines.js';
import type { Statements } from './database.js';
import { encodeValue, translate } from './notation.js';
import { Parameters } from './parameters.js';
import { runSteps } from './shared-operations.js';

export interface SlottedWrites<Item extends Slotted> {
  /** Returns those that were written. */
  readonly write: (items: readonly Item[]) => Promise<readonly Item[]>;
  /** Of those that were written. */
  readonly takings: (items: readonly Item[]) => Promise<readonly Taking[]>;
}

export interface WrittenSlots<Item> {
  /** Of those that were written, and those that were refused. The others were lost. */
  readonly changed: ReadonlyMap<Item, ChangedSlots>;
  /** Of the keys that they freed, those for which somebody waits. */
  readonly waited: readonly LimitKey[];
}

/**
 * The locks to take before anything else. Whoever waits asks for a grant afterwards, and that takes the lock. So waiting needs none,
 * except for the turns of a fairness key.
 */
export function slotLocksOf(item: Slotted, mayHaveTurns: boolean): readonly string[] {
  const waits = mayHaveTurns ? waitKeysOf(item) : [];
  return [...slotKeysOf(item), ...waits].map(slotsKeyOf);
}

/** Under the locks of all keys. */
export async function writeWithSlots<Item extends Slotted>(
  statements: Statements,
  items: readonly Item[],
  writes: SlottedWrites<Item>,
): Promise<WrittenSlots<Item>> {
  const added = await addedBy(statements, items);
  const rules = await runSteps(statements, rulesNeeded(items));
  const all = new Map<Item, ChangedSlots>();
  let left = items;
  if (items.some(mayBeRefused)) await statements.execute('SAVEPOINT before_writes');
  while (left.length > 0) {
    const written = await writes.write(left);
    const takings = await writes.takings(written);
    const members = written.map((item, at) => ({ item, taking: takings[at] as Taking }));
    const changed = await changeEach(statements, members, { added, rules });
    const accepted = written.filter((item) => changed.get(item)?.refused.length === 0);
    const isDone = accepted.length === written.length;
    for (const [item, each] of changed) {
      if (isDone || each.refused.length > 0) all.set(item, each);
    }
    if (isDone) {
      return { changed: all, waited: await waitedAmong(statements, accepted.flatMap(freedBy)) };
    }
    await statements.execute('ROLLBACK TO before_writes');
    left = accepted;
  }
  return { changed: all, waited: [] };
}

interface Member<Item> {
  readonly item: Item;
  readonly taking: Taking;
}

/** Those that only free come first. Those that have keys in common take turns; the others don't wait for each other's answers. */
async function changeEach<Item extends Slotted>(
  statements: Statements,
  members: readonly Member<Item>[],
  known: { readonly added: ReadonlySet<NewActivityRecord>; readonly rules: Rules },
): Promise<ReadonlyMap<Item, ChangedSlots>> {
  const changed = new Map<Item, ChangedSlots>();
  const lastOf = new Map<string, Promise<void>>();
  const change = async ({ item, taking }: Member<Item>, before: readonly unknown[]) => {
    await Promise.all(before);
    const items = item.side.activities.filter((each) => known.added.has(each));
    changed.set(item, await runSteps(statements, changeSlots(known.rules, item, items, taking)));
  };
  const ordered = members.toSorted(
    (left, right) => Number(mayBeRefused(left.item)) - Number(mayBeRefused(right.item)),
  );
  const all = ordered.map((member) => {
    const keys = slotLocksOf(member.item, true);
    const done = change(
      member,
      keys.map((key) => lastOf.get(key)),
    );
    for (const key of keys) lastOf.set(key, done);
    return done;
  });
  // None of them may use the connection after the first error has ended the transaction.
  const failed = (await Promise.allSettled(all)).find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
  return changed;
}

const SAME: Columns<NewActivityRecord> = {
  id: ['text', ({ id }) => id],
  name: ['text', ({ name }) => name],
  parameters: ['text', ({ parameters }) => parameters],
};

/** Before they are written: the items that need slots, without those that exist with the same content. */
async function addedBy(
  statements: Statements,
  slotted: readonly Slotted[],
): Promise<ReadonlySet<NewActivityRecord>> {
  const items = slotted
    .flatMap(({ side }) => side.activities)
    .filter((item) => needsText(item) !== null);
  if (items.length === 0) return new Set();
  const parameters = new Parameters();
  const same = await statements.query(
    `SELECT a.id FROM @activities AS a JOIN ${parameters.rows('g', items, SAME)}
       ON g.id = a.id AND g.name = a.name AND g.parameters = a.parameters`,
    parameters.values,
  );
  const known = new Set(same.map((row) => row.text('id')));
  return new Set(items.filter(({ id }) => !known.has(id)));
}

/** Those of these keys for which somebody waits. */
async function waitedAmong(
  statements: Statements,
  keys: readonly LimitKey[],
): Promise<readonly LimitKey[]> {
  if (keys.length === 0) return [];
  const rows = await statements.query(
    `SELECT DISTINCT freed.name, freed.key FROM unnest($1::text[], $2::text[]) AS freed (name, key)
      WHERE EXISTS (${translate(waitedText('freed.name', 'freed.key'))})`,
    [keys.map(({ limit }) => limit), keys.map(({ key }) => key)].map((column) =>
      column.map(encodeValue),
    ),
  );
  return rows.map((row) => ({ limit: row.text('name'), key: row.text('key') }));
}
