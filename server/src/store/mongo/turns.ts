/**
 * Turns of fairness keys: see ../records/turns.ts. No operation spans two documents, so what decides about a line has its turns, too:
 * the document of a limit and key, the claim of the places of a key, and for items a document for each name and priority.
 *
 * Only keys whose turn is to come are listed. Any other key is at the present, which needs no entry, and is found by what waits: keys
 * at the present go in the order of the age of what waits of them.
 */
import { randomUUID } from 'node:crypto';
import { PRIORITIES, type Fairness, type Priority } from '../../engine/model/start-options.js';
import { inTurnOrder, Turns, type Line } from '../records/turns.js';
import { decodeText, encodeText } from '../text-codec.js';
import type { Collections } from './collections.js';
import { fairnessOf, type FairnessFields } from './fairness-fields.js';
import { isDuplicateKey } from './mongo-errors.js';
import type { LineTurns, PriorityTurns } from './turn-documents.js';

const NONE: LineTurns = { present: 0, keys: [] };

/** So many keys are listed, those whose turns come last. */
const KEYS_MAX = 500;
/** So many keys of a long line are looked at. */
const KEYS_READ = 100;

interface Waiting extends FairnessFields {
  readonly since: number;
}

/** @param waiting what waits; the first of each key counts */
export function turnsIn({ keys, present }: LineTurns, waiting: Iterable<Waiting>): Turns {
  const known = keys.map(({ key, since, turn }) => ({ fairnessKey: decodeText(key), turn, since }));
  const names = new Set(known.map(({ fairnessKey }) => fairnessKey));
  for (const each of waiting) {
    const fairnessKey = fairnessOf(each)?.key ?? '';
    if (names.has(fairnessKey)) continue;
    names.add(fairnessKey);
    known.push({ fairnessKey, turn: present, since: each.since });
  }
  // Always a group without a key, so that the present is known.
  if (!names.has('')) known.push({ fairnessKey: '', turn: present, since: 0 });
  return new Turns(known.map((position) => ({ ...position, present })));
}

export function lineTurnsOf({ positions, present }: Turns): LineTurns {
  const keys = positions
    .filter(({ turn }) => turn > present)
    .sort((left, right) => right.turn - left.turn)
    .slice(0, KEYS_MAX)
    .map(({ fairnessKey, since, turn }) => ({ key: encodeText(fairnessKey), turn, since }));
  return { present, keys };
}

export function fairOf(fields: FairnessFields): { readonly fairness: Fairness | null } {
  return { fairness: fairnessOf(fields) };
}

/** All priorities of a line that is decided about as a whole. */
export class LineState {
  readonly #stored: Map<Priority, LineTurns>;
  #isChanged = false;

  constructor(stored: readonly PriorityTurns[] = []) {
    this.#stored = new Map(stored.map(({ priority, ...turns }) => [priority, turns]));
  }

  /** Whether something that waited with this priority had a key. */
  takesTurns(priority: Priority): boolean {
    return this.#stored.has(priority);
  }

  /** From now on, the priorities with which some of these have a key take turns. */
  begin(waiting: Iterable<FairnessFields & { readonly priority: Priority }>): void {
    for (const { fairnessKey, priority } of waiting) {
      if (fairnessKey === undefined || this.takesTurns(priority)) continue;
      this.#stored.set(priority, NONE);
      this.#isChanged = true;
    }
  }

  turnsOf(priority: Priority, waiting: Iterable<Waiting> = []): Turns {
    return turnsIn(this.#stored.get(priority) ?? NONE, waiting);
  }

  /** Nothing changes while nothing has a key. */
  handOut(item: FairnessFields & { readonly priority: Priority }, now: number): void {
    const { fairnessKey, priority } = item;
    if (fairnessKey === undefined && !this.takesTurns(priority)) return;
    const turns = this.turnsOf(priority, [{ ...item, since: now }]);
    turns.handOut(fairOf(item), now);
    this.#stored.set(priority, lineTurnsOf(turns));
    this.#isChanged = true;
  }

  /** To be written; empty: nothing has changed. */
  get changed(): { readonly turns?: readonly PriorityTurns[] } {
    if (!this.#isChanged) return {};
    return { turns: [...this.#stored].map(([priority, turns]) => ({ priority, ...turns })) };
  }

  /** In the order of priority, then of turns, as if all were handed out. Items of each key are in their order. */
  inOrder<Item extends InLine>(items: readonly Item[]): readonly Item[] {
    return PRIORITIES.flatMap((priority) => {
      const equal = items.filter((item) => item.priority === priority);
      if (!equal.some(isKeyed)) return equal;
      const turns = this.turnsOf(priority, equal);
      return [...turns.inOrder(equal.map((item) => ({ item, ...fairOf(item) })))].map(
        ({ item }) => item,
      );
    });
  }

  /** Those of these keys, as stored, that are next. */
  nextKeys(priority: Priority, keys: readonly string[]): readonly string[] {
    const stored = new Map(keys.map((key) => [decodeText(key), key]));
    const waiting = keys.map((fairnessKey) => ({ fairnessKey, since: 0 }));
    return this.turnsOf(priority, waiting)
      .positions.toSorted(inTurnOrder)
      .flatMap(({ fairnessKey }) => stored.get(fairnessKey) ?? [])
      .slice(0, KEYS_READ);
  }

  /** Whether one goes before the other. They have the same priority. */
  isBefore(left: InLine, right: InLine): boolean {
    const turns = this.turnsOf(right.priority, [left, right]);
    const order = turns.compareKeys(fairOf(left), fairOf(right));
    return (order || left.since - right.since) < 0;
  }
}

export interface InLine extends FairnessFields {
  readonly priority: Priority;
  readonly since: number;
}

function isKeyed({ fairnessKey }: FairnessFields): boolean {
  return fairnessKey !== undefined;
}

type Context = Pick<Collections, 'turns'>;

/** The turns of a name and priority as they were read; the token is null if there were none. */
export interface ItemTurns extends LineTurns {
  readonly id: string;
  readonly token: string | null;
}

/** The name as stored. */
export async function readItemTurns({ turns }: Context, line: Line): Promise<ItemTurns> {
  const id = `${line.priority}/${line.queue}`;
  const known = await turns.findOne({ _id: id });
  if (known === null) return { id, token: null, ...NONE };
  const { keys, present, token } = known;
  return { id, token, present, keys };
}

/** False: another one was faster, and nothing has changed. */
export async function saveItemTurns(
  { turns: collection }: Context,
  { id, token: known }: ItemTurns,
  turns: Turns,
  at: number,
): Promise<boolean> {
  const content = { token: randomUUID(), at, ...lineTurnsOf(turns) };
  if (known !== null) {
    const { matchedCount } = await collection.updateOne(
      { _id: id, token: known },
      { $set: content },
    );
    return matchedCount > 0;
  }
  try {
    await collection.insertOne({ _id: id, ...content });
    return true;
  } catch (error) {
    if (isDuplicateKey(error)) return false;
    throw error;
  }
}
