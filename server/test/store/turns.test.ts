/**
 * Goal: fairness keys are served in proportion to their weights, whatever enters the queue, and none makes up for the past.
 * Method: random queues of which one item after another is handed out, as claims do it.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  fairQueueOf,
  itemsQueueOf,
  Turns,
  type TurnRecord,
} from '../../src/store/records/turns.js';
import { placesKeyOf } from '../../src/store/records/places.js';
import { slotsKeyOf } from '../../src/store/records/slots.js';
import { propertyRuns } from '../support/property-runs.js';

interface Item {
  readonly fairness: { readonly key: string; readonly weight: number } | null;
}

const LINE = { queue: itemsQueueOf('ship'), priority: 3 } as const;

const itemOf = (key: string, weight = 1): Item => ({
  fairness: key === '' ? null : { key, weight },
});
const keyOf = ({ fairness }: Item): string => fairness?.key ?? '';

/** A queue with the records of its keys. */
class Queue {
  readonly #items: Item[] = [];
  #records: readonly TurnRecord[] = [];
  #now = 0;

  add(...items: readonly Item[]): void {
    for (const item of items) {
      this.#items.push(item);
      const key = keyOf(item);
      const present = this.#records.find(({ fairnessKey }) => fairnessKey === '')?.present ?? 0;
      for (const fairnessKey of ['', key]) {
        if (this.#records.some((each) => each.fairnessKey === fairnessKey)) continue;
        const turn = fairnessKey === '' ? 0 : present;
        const record = { ...LINE, fairnessKey, turn, present: 0, since: (this.#now += 1) };
        this.#records = [...this.#records, record];
      }
    }
  }

  /** The key of the next item. */
  next(): string | null {
    const turns = new Turns(this.#records);
    const item = turns.inOrder(this.#items).next().value;
    if (item === undefined) return null;
    this.#items.splice(this.#items.indexOf(item), 1);
    turns.handOut(item, (this.#now += 1));
    const changed = turns.changedIn(LINE);
    const isChanged = new Set(changed.map(({ fairnessKey }) => fairnessKey));
    this.#records = [
      ...this.#records.filter(({ fairnessKey }) => !isChanged.has(fairnessKey)),
      ...changed,
    ];
    return keyOf(item);
  }

  take(count: number): readonly string[] {
    return Array.from({ length: count }, () => this.next() ?? '-');
  }

  has(key: string): boolean {
    return this.#items.some((item) => keyOf(item) === key);
  }
}

const manyOf = (key: string, count: number, weight = 1): readonly Item[] =>
  Array.from({ length: count }, () => itemOf(key, weight));
const countOf = (keys: readonly string[], key: string): number =>
  keys.filter((each) => each === key).length;

describe('turns', () => {
  it('gives each of two keys at least 9 of any 20 while both have items', () => {
    const batch = fc.tuple(fc.constantFrom('', 'a'), fc.nat({ max: 30 }), fc.nat({ max: 30 }));
    fc.assert(
      fc.property(fc.array(batch, { minLength: 1, maxLength: 12 }), (batches) => {
        const queue = new Queue();
        let both: string[] = [];
        for (const [key, added, taken] of batches) {
          queue.add(itemOf('a'), ...manyOf(key, added));
          for (let count = 0; count < taken; count += 1) {
            const hadBoth = queue.has('') && queue.has('a');
            const next = queue.next();
            if (next === null) break;
            both = hadBoth ? [...both, next] : [];
            const last = both.slice(-20);
            if (last.length === 20) expect(countOf(last, 'a')).toSatisfy((n) => n >= 9 && n <= 11);
          }
        }
      }),
      propertyRuns(300),
    );
  });

  it('serves keys in proportion to their weights', () => {
    const weight = fc.constantFrom(0.25, 0.5, 1, 2, 3, 4);
    fc.assert(
      fc.property(weight, weight, (a, b) => {
        const queue = new Queue();
        queue.add(...manyOf('a', 400, a), ...manyOf('b', 400, b));
        const taken = queue.take(300);
        const share = (300 * a) / (a + b);
        // The debt of a light key is one hand-out.
        expect(Math.abs(countOf(taken, 'a') - share)).toBeLessThanOrEqual(a / b + b / a + 1);
      }),
      propertyRuns(50),
    );
  });

  it('starts a key that comes late at the present', () => {
    const queue = new Queue();
    queue.add(...manyOf('a', 300));
    queue.take(100);
    queue.add(...manyOf('late', 100));
    expect(countOf(queue.take(20), 'late')).toBe(10);
  });

  it('does not give back what a key left while it had nothing', () => {
    const queue = new Queue();
    queue.add(...manyOf('a', 200), ...manyOf('b', 5));
    queue.take(60);
    queue.add(...manyOf('b', 50));
    expect(countOf(queue.take(20), 'b')).toBe(10);
  });

  it('remembers that a key was served when it had nothing for a moment', () => {
    const queue = new Queue();
    queue.add(...manyOf('a', 100), itemOf('b'));
    const taken: string[] = [];
    for (let round = 0; round < 40; round += 1) {
      const next = queue.next()!;
      taken.push(next);
      // Its next item comes when the one before has been handed out.
      if (next === 'b') queue.add(itemOf('b'));
    }
    expect(countOf(taken, 'b')).toBe(20);
  });

  it('keeps the order of the items of a key, and treats those without a key as one group', () => {
    const queue = new Queue();
    queue.add(itemOf(''), itemOf('a'), itemOf(''), itemOf('b'), itemOf(''));
    expect(queue.take(5).toSorted()).toEqual(['', '', '', 'a', 'b']);
    queue.add(itemOf('a'));
    const items = [1, 2, 3].map((n) => ({ n, ...itemOf('a') }));
    expect([...new Turns([]).inOrder(items)].map(({ n }) => n)).toEqual([1, 2, 3]);
  });

  it('names queues so that their parts can be read again', () => {
    const odd = ['', ':', '1:a', 'items/x', '\u0000', 'é'];
    for (const name of odd) {
      expect(fairQueueOf(itemsQueueOf(name))).toEqual({ kind: 'items', name });
      for (const key of odd) {
        const limit = { limit: name, key };
        expect(fairQueueOf(slotsKeyOf(limit))).toEqual({ kind: 'slots', ...limit });
        const places = { definitionId: name, key };
        expect(fairQueueOf(placesKeyOf(places))).toEqual({ kind: 'places', ...places });
      }
    }
  });
});
