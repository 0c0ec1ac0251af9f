/**
 * Goal: a turn of the event loop reads a limited number of bytes of bodies, and callers alternate.
 * Method: bodies in place of connections; each that is resumed gets its next part in the same turn.
 */
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { BodyTurns } from '../../../src/api/http/body-turns.js';

const PART = 64 << 10;

/** Reads the parts of bodies. `read` lists the caller of each part, by turn. */
class Arrivals {
  readonly read: string[][] = [[]];
  readonly #turns = new BodyTurns();
  #open = 0;

  add(caller: string, parts: number): void {
    let left = parts;
    let isPaused = false;
    this.#open += 1;
    const body = {
      pause: () => {
        isPaused = true;
        return body;
      },
      resume: () => {
        isPaused = false;
        next();
        return body;
      },
    } as unknown as Parameters<BodyTurns['count']>[1];
    const next = (): void => {
      while (!isPaused && left > 0) {
        left -= 1;
        this.read.at(-1)?.push(caller);
        if (left === 0) this.#open -= 1;
        else this.#turns.count(caller, body, PART);
      }
    };
    next();
  }

  async untilRead(): Promise<readonly (readonly string[])[]> {
    while (this.#open > 0) {
      this.read.push([]);
      await setImmediate();
    }
    return this.read.filter((turn) => turn.length > 0);
  }
}

describe('a turn of bodies', () => {
  it('does not pause a body that is the only one', async () => {
    const arrivals = new Arrivals();
    arrivals.add('a', 4);
    expect(await arrivals.untilRead()).toEqual([['a', 'a', 'a', 'a']]);
  });

  it('reads a limited number of bytes, however many bodies arrive', async () => {
    const arrivals = new Arrivals();
    for (let count = 0; count < 100; count += 1) arrivals.add('a', 14);
    const [first = [], ...next] = await arrivals.untilRead();
    // Each has begun to arrive before it can be paused.
    expect(first.length).toBeLessThan(110);
    expect(next.length).toBeGreaterThan(300);
    expect(Math.max(...next.map(({ length }) => length))).toBeLessThanOrEqual(5);
  });

  it('reads a body of another caller between those of a flood', async () => {
    const arrivals = new Arrivals();
    for (let count = 0; count < 100; count += 1) arrivals.add('flood', 14);
    arrivals.add('other', 14);
    const turns = await arrivals.untilRead();
    const last = turns.findLastIndex((turn) => turn.includes('other'));
    expect(last).toBeLessThan(20);
    expect(turns.flat()).toHaveLength(101 * 14);
  });
});
