/**
 * Turns: in which order the fairness keys of a queue are served (start-time fair queuing).
 *
 * A queue is an activity name, the line of a limit and key, or those that wait for a place of a key. What waits in it with the same
 * priority is grouped by fairness key, and what has none is a group, too. Turns are assigned when something is handed out, never when
 * it enters the queue, so what is canceled or suspended costs its key nothing:
 *
 *   start(key) = max(turn(key), present) --> the key with the smallest start is next --> present = start, turn(key) = start + 1 / weight
 *
 * So keys are served in proportion to their weights, and one that comes late starts at the present.
 *
 * A key has a record while something of it is in the queue. The record of the group without a key also has the present. A record with
 * nothing in the queue whose turn has passed says no more than a missing one, and is removed by the next hand-out that meets it, or by
 * `purge`.
 */
import type { Fairness, Priority } from '../../engine/model/start-options.js';
import { compareText } from '../text-order.js';

/** What waits with the same priority. */
export interface Line {
  readonly queue: string;
  readonly priority: Priority;
}

/** The position of a key among those of its line. */
export interface TurnPosition {
  /** Empty: the group without a key. */
  readonly fairnessKey: string;
  readonly turn: number;
  /** When the key entered the queue, or was served last. Among equal turns, the earlier goes first. */
  readonly since: number;
}

export interface TurnRecord extends Line, TurnPosition {
  /** The start of the newest hand-out, in the record of the group without a key. */
  readonly present: number;
}

/** Maximum number of keys that are tried for one hand-out. If nothing of them is available, the oldest item goes. */
export const TURNS_TRIED_MAX = 1000;

/** Identifies the queue of an activity among those of limits and places: none of them begins with this. */
export function itemsQueueOf(activityName: string): string {
  return `items/${activityName}`;
}

export type FairQueue =
  | { readonly kind: 'items'; readonly name: string }
  | { readonly kind: 'slots'; readonly limit: string; readonly key: string }
  | { readonly kind: 'places'; readonly definitionId: string; readonly key: string };

const ITEMS = itemsQueueOf('');
const SLOTS = 'slots/';

/** @param queue see `itemsQueueOf`, `slotsKeyOf` and `placesKeyOf` */
export function fairQueueOf(queue: string): FairQueue {
  if (queue.startsWith(ITEMS)) return { kind: 'items', name: queue.slice(ITEMS.length) };
  // The length of a name, the name, and a key.
  const [, of = '', length = '', rest = ''] = /^([a-z]+\/)(\d+):(.*)$/su.exec(queue) ?? [];
  const [name, key] = [rest.slice(0, Number(length)), rest.slice(Number(length) + 1)];
  return of === SLOTS
    ? { kind: 'slots', limit: name, key }
    : { kind: 'places', definitionId: name, key };
}

export function inTurnOrder(left: TurnPosition, right: TurnPosition): number {
  return (
    left.turn - right.turn ||
    left.since - right.since ||
    compareText(left.fairnessKey, right.fairnessKey)
  );
}

export type Fair = { readonly fairness?: Fairness | null };

/** The turns of one line, while something of it is handed out. */
export class Turns {
  readonly #positions: Map<string, TurnPosition>;
  readonly #changed = new Set<string>();
  #present: number;
  #last: TurnPosition | null = null;

  constructor(records: readonly (TurnPosition & { readonly present: number })[]) {
    this.#present = records.reduce((present, each) => Math.max(present, each.present), 0);
    this.#positions = new Map(
      records.map(({ fairnessKey, since, turn }) => [fairnessKey, { fairnessKey, since, turn }]),
    );
  }

  /**
   * In the order in which they would be handed out, if all of them were.
   * @param items in their order within each key
   */
  *inOrder<Item extends Fair>(items: Iterable<Item>): Generator<Item, undefined> {
    if (this.isEmpty) {
      yield* items;
      return;
    }
    const groups = groupsOf(items);
    const planned = new Turns([]);
    planned.#present = this.#present;
    for (const key of groups.keys()) planned.#positions.set(key, this.#positionOf(key));
    for (;;) {
      const next = [...groups.keys()]
        .map((key) => planned.#positionOf(key))
        .reduce<TurnPosition | null>(
          (first, each) => (first === null || inTurnOrder(each, first) < 0 ? each : first),
          null,
        );
      if (next === null) return;
      const group = groups.get(next.fairnessKey);
      const item = group?.shift();
      if (group === undefined || item === undefined) return;
      if (group.length === 0) groups.delete(next.fairnessKey);
      planned.handOut(item, next.since);
      yield item;
    }
  }

  handOut({ fairness }: Fair, now: number): void {
    const { key, weight } = fairness ?? { key: '', weight: 1 };
    const position = this.#positionOf(key);
    const start = Math.max(position.turn, this.#present);
    if (this.#last === null || inTurnOrder(position, this.#last) > 0) this.#last = position;
    this.#present = start;
    this.#positions.set(key, { fairnessKey: key, turn: start + 1 / weight, since: now });
    this.#changed.add(key);
  }

  /** Nothing in the line has a key. */
  get isEmpty(): boolean {
    return this.#positions.size === 0;
  }

  /** Negative: the key of the first one is next before that of the second. 0: they have the same, or nothing in the line has a key. */
  compareKeys(left: Fair, right: Fair): number {
    const [leftKey, rightKey] = [keyOf(left), keyOf(right)];
    if (leftKey === rightKey || this.isEmpty) return 0;
    return inTurnOrder(this.#positionOf(leftKey), this.#positionOf(rightKey));
  }

  /** Those before it in the order of turns that have nothing in the queue may be removed. Null: nothing was handed out. */
  get last(): TurnPosition | null {
    return this.#last;
  }

  get present(): number {
    return this.#present;
  }

  /** Of all keys that are known. */
  get positions(): readonly TurnPosition[] {
    return [...this.#positions.values()];
  }

  /** What was handed out came back. */
  takeBack({ fairness }: Fair): void {
    const { key, weight } = fairness ?? { key: '', weight: 1 };
    const position = this.#positions.get(key);
    if (position === undefined) return;
    this.#positions.set(key, { ...position, turn: position.turn - 1 / weight });
  }

  /** What must be saved, in the order of the keys. */
  changedIn(line: Line): readonly TurnRecord[] {
    if (this.#changed.size === 0) return [];
    return [...new Set(['', ...this.#changed])].sort(compareText).map((key) => ({
      ...line,
      ...this.#positionOf(key),
      present: key === '' ? this.#present : 0,
    }));
  }

  #positionOf(key: string): TurnPosition {
    const known = this.#positions.get(key);
    if (known !== undefined) return known;
    const isKeyed = key !== '';
    return {
      fairnessKey: key,
      turn: isKeyed ? this.#present : 0,
      since: isKeyed ? Number.MAX_SAFE_INTEGER : 0,
    };
  }
}

function keyOf({ fairness }: Fair): string {
  return fairness?.key ?? '';
}

function groupsOf<Item extends Fair>(items: Iterable<Item>): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}
