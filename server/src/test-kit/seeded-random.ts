/** Everything random of a test server, from its seed. */
import type { RandomSource } from '../compose-host.js';
import { createIds } from '../base/ids.js';
import type { VirtualClock } from './virtual-clock.js';

const WORD = 2 ** 32;

/** mulberry32 */
export class Stream {
  #state: number;

  constructor(seed: number) {
    // Neighboring seeds must not start alike.
    this.#state = Math.imul(Math.trunc(seed) + 1, 0x9e3779b1) >>> 0;
  }

  /** An integer of 32 bits. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  }
}

export function seededRandom(clock: VirtualClock, seed: number): RandomSource {
  const bytes = new Stream(seed);
  const calls = new Stream(seed + 1);
  return {
    clock,
    ids: createIds((buffer) => {
      for (let at = 0; at < buffer.length; at += 4) buffer.writeUInt32LE(bytes.next(), at);
    }),
    // 0 stands for the machine's own random numbers.
    nextMoment: () => ({ time: clock.now(), seed: (calls.next() % (WORD - 1)) + 1 }),
  };
}
