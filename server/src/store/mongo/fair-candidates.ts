/**
 * The next items of a name if some of them have fairness keys. Their turns are reserved before they are taken, by compare-and-set on the
 * document of their line, so processes don't serve the same key at the same time. The turn of an item that isn't handed out comes back.
 */
import type { Filter } from 'mongodb';
import { DEFAULT_PRIORITY, type Priority } from '../../engine/model/start-options.js';
import { inTurnOrder, itemsQueueOf, TURNS_TRIED_MAX, type Line } from '../records/turns.js';
import { StoreUnavailableError } from '../store.js';
import { decodeText } from '../text-codec.js';
import { ANY_PRIORITY } from './activity-documents.js';
import { CANDIDATE_FIELDS, type Candidate } from './candidate-fields.js';
import type { Collections } from './collections.js';
import type { ActivityDocument } from './documents.js';
import { KEYED } from './fairness-fields.js';
import { runnableOf } from './deciding.js';
import { keysIn } from './first-of-keys.js';
import { fairOf, readItemTurns, saveItemTurns, turnsIn, type ItemTurns } from './turns.js';

export type FairContext = Pick<Collections, 'activities' | 'instances' | 'turns'>;

/** How often others may be faster. */
const ATTEMPTS_MAX = 100;
/** How many of the oldest items are read. If there are more, the first ones of each key are. */
const OLDEST_READ = 100;
/** How many keys are tried at once. */
const TRIED_TOGETHER = 16;

export interface Wanted {
  /** As stored. */
  readonly name: string;
  readonly now: number;
  readonly count: number;
  readonly passedOver: ReadonlySet<string>;
}

function available({ name, now }: Pick<Wanted, 'name' | 'now'>): Filter<ActivityDocument> {
  return { name, done: false, settled: false, priority: ANY_PRIORITY, availableAt: { $lte: now } };
}

export function oldestItems(
  { activities }: FairContext,
  wanted: Wanted,
  limit: number,
): Promise<Candidate[]> {
  return activities
    .find(available(wanted), { projection: CANDIDATE_FIELDS })
    .sort({ priority: 1, availableAt: 1, _id: 1 })
    .limit(limit)
    .toArray();
}

export async function hasKeyedItems(
  { activities }: FairContext,
  wanted: Pick<Wanted, 'name' | 'now'>,
): Promise<boolean> {
  const keyed = { ...available(wanted), fairnessKey: KEYED };
  return (await activities.findOne(keyed, { projection: { _id: 1 } })) !== null;
}

/** Items of instances that aren't Runnable come first, without a turn. Null: no item that is available has a key. */
export async function fairCandidates(
  context: FairContext,
  wanted: Wanted,
): Promise<readonly Candidate[] | null> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const next = await nextItems(context, wanted);
    if (next === null) return null;
    const { items, line, stored } = next;
    const runnable = await runnableOf(context, items);
    const passed = items.filter(({ instanceId }) => !runnable.has(instanceId));
    const ready = items.filter(({ instanceId }) => runnable.has(instanceId));
    const turns = turnsIn(stored, items.map(waitingOf));
    const ordered = turns.inOrder(ready.map((item) => ({ item, ...fairOf(item) })));
    const count = Math.max(0, wanted.count - passed.length);
    const chosen = [...ordered].slice(0, count).map(({ item }) => item);
    if (chosen.length === 0) return passed;
    for (const item of chosen) turns.handOut(fairOf(item), wanted.now);
    if (await saveItemTurns(context, stored, turns, wanted.now)) {
      return [...passed, ...chosen.map((item) => ({ ...item, reserved: line }))];
    }
  }
  throw new StoreUnavailableError(`Too many others claim items of ${decodeText(wanted.name)}`);
}

export async function takeBackTurn(
  context: FairContext,
  { reserved, ...item }: Candidate,
  now: number,
): Promise<void> {
  if (reserved === undefined) return;
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const stored = await readItemTurns(context, reserved);
    const turns = turnsIn(stored, []);
    turns.takeBack(fairOf(item));
    if (await saveItemTurns(context, stored, turns, now)) return;
  }
}

interface NextItems {
  readonly line: Line;
  readonly stored: ItemTurns;
  /** All that are available with this priority, or the first ones of the next keys. */
  readonly items: readonly Candidate[];
}

async function nextItems(context: FairContext, wanted: Wanted): Promise<NextItems | null> {
  const found = await oldestItems(context, wanted, OLDEST_READ + wanted.passedOver.size);
  const oldest = found.filter(({ _id }) => !wanted.passedOver.has(_id));
  const areAll = found.length < OLDEST_READ + wanted.passedOver.size;
  const [first] = oldest;
  if (first === undefined) return null;
  const isKeyed = oldest.some(({ fairnessKey }) => fairnessKey !== undefined);
  if (!isKeyed && (areAll || !(await hasKeyedItems(context, wanted)))) return null;
  const line = { queue: itemsQueueOf(wanted.name), priority: priorityOf(first) };
  const equal = oldest.filter((item) => priorityOf(item) === line.priority);
  const stored = await readItemTurns(context, line);
  // Those with another priority come later.
  if (areAll || equal.length < oldest.length) return { line, stored, items: equal };
  return {
    line,
    stored,
    items: await firstOfKeys(context, wanted, { line, stored, oldest: equal }),
  };
}

interface Reading {
  readonly line: Line;
  readonly stored: ItemTurns;
  readonly oldest: readonly Candidate[];
}

/** The first items of the next keys, until there are as many keys with items as are wanted. */
async function firstOfKeys(
  { activities }: FairContext,
  { count, name, now, passedOver }: Wanted,
  { line: { priority }, oldest, stored }: Reading,
): Promise<readonly Candidate[]> {
  const keyed = await keysIn(activities, { name, done: false, priority });
  const waiting = [
    ...oldest.map(waitingOf),
    ...keyed.map((fairnessKey) => ({ fairnessKey, since: now })),
  ];
  const isThere = new Set(['', ...keyed.map(decodeText)]);
  const keys = turnsIn(stored, waiting)
    .positions.toSorted(inTurnOrder)
    .filter(({ fairnessKey }) => isThere.has(fairnessKey))
    .slice(0, TURNS_TRIED_MAX);
  const storedKeys = new Map(keyed.map((key) => [decodeText(key), key]));
  const items: Candidate[] = [];
  let served = 0;
  for (let at = 0; at < keys.length && served < count; at += TRIED_TOGETHER) {
    const lists = await Promise.all(
      keys.slice(at, at + TRIED_TOGETHER).map(({ fairnessKey }) =>
        activities
          .find(
            {
              ...available({ name, now }),
              priority: withDefault(priority),
              fairnessKey: { $eq: storedKeys.get(fairnessKey) ?? null },
              ...(passedOver.size > 0 && { _id: { $nin: [...passedOver] } }),
            } as Filter<ActivityDocument>,
            { projection: CANDIDATE_FIELDS },
          )
          .sort({ availableAt: 1, _id: 1 })
          .limit(count)
          .toArray(),
      ),
    );
    items.push(...lists.flat());
    served += lists.filter((list) => list.length > 0).length;
  }
  return items.length === 0 ? oldest : items;
}

/** Items of earlier versions of the server have none. */
function withDefault(priority: Priority): Filter<ActivityDocument>['priority'] {
  return priority === DEFAULT_PRIORITY ? { $in: [null, priority] } : priority;
}

function priorityOf({ priority }: Candidate): Priority {
  return priority ?? DEFAULT_PRIORITY;
}

function waitingOf({ availableAt, ...item }: Candidate): Candidate & { readonly since: number } {
  return { ...item, availableAt, since: availableAt };
}
