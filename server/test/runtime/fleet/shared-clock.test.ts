/** Nodes go by the time of their database, whatever happens to the clocks of their machines. */
import { describe, expect, it } from 'vitest';
import { createLogger } from '../../../src/base/logger.js';
import { clockOf } from '../../../src/base/clock.js';
import { SharedClock } from '../../../src/runtime/fleet/shared-clock.js';

const NOON = Date.UTC(2026, 5, 1, 12);

/** A machine whose clock and steady count the test moves. */
function machine(): {
  clock: SharedClock;
  wall: number;
  steady: number;
  warnings: string[];
  pass: (ms: number) => void;
} {
  const state = { wall: NOON, steady: 70, warnings: [] as string[] };
  const clock = new SharedClock(
    createLogger({
      level: 'warn',
      destination: { write: (line) => state.warnings.push(line) },
    }),
    { wall: () => state.wall, steady: () => state.steady },
  );
  const pass = (ms: number): void => {
    state.wall += ms;
    state.steady += ms;
  };
  return Object.assign(state, { clock, pass });
}

describe('a clock that nodes share', () => {
  it("starts with the machine's time, and goes on without it", () => {
    const at = machine();
    expect(at.clock.now()).toBe(NOON);
    at.pass(1500);
    expect(at.clock.now()).toBe(NOON + 1500);
    at.wall += 3_600_000;
    expect(at.clock.now()).toBe(NOON + 1500);
    at.wall -= 7_200_000;
    expect(at.clock.now()).toBe(NOON + 1500);
  });

  it.each([90_000, -90_000, 3_600_000, -3_600_000])(
    'takes the time of a database that is %i ms away, and says so once',
    (awayMs) => {
      const at = machine();
      at.clock.adjust(NOON + awayMs, 0);
      expect(Math.abs(at.clock.now() - NOON - awayMs)).toBeLessThanOrEqual(1);
      at.pass(4000);
      at.clock.adjust(NOON + awayMs + 4000, 0);
      expect(Math.abs(at.clock.now() - NOON - awayMs - 4000)).toBeLessThanOrEqual(1);
      expect(at.warnings).toHaveLength(1);
      const { aheadMs } = JSON.parse(at.warnings[0] ?? '') as { readonly aheadMs: number };
      expect(Math.abs(aheadMs + awayMs)).toBeLessThanOrEqual(1);
    },
  );

  it('leaves a difference that the time of the answer explains', () => {
    const at = machine();
    at.clock.adjust(NOON - 5000, 10_000);
    at.clock.adjust(NOON - 3, 2);
    expect(at.clock.now()).toBe(NOON);
    expect(at.warnings).toEqual([]);
  });

  it('is as near to the database as the quickest answer tells', () => {
    const at = machine();
    // In truth the database is 300 ms ahead.
    at.clock.adjust(NOON + 300 - 900, 1000);
    at.clock.adjust(NOON + 300 - 5, 20);
    at.clock.adjust(NOON + 300 - 1, 2);
    at.clock.adjust(NOON + 300 - 400, 500);
    expect(at.clock.now()).toBeGreaterThanOrEqual(NOON + 298);
    expect(at.clock.now()).toBeLessThanOrEqual(NOON + 302);
  });

  it('waits where it was ahead by little, and does not go back', () => {
    const at = machine();
    expect(at.clock.now()).toBe(NOON);
    at.clock.adjust(NOON - 401, 0);
    expect(at.clock.now()).toBe(NOON);
    at.pass(300);
    expect(at.clock.now()).toBe(NOON);
    at.pass(200);
    expect(at.clock.now()).toBe(NOON + 100);
  });
});

describe('a clock that is set back', () => {
  it('does not hold up what was to happen after a pause', async () => {
    let time = NOON;
    const clock = clockOf(() => time);
    const called = new Promise<void>((resolve) => {
      clock.at(NOON + 50, resolve);
    });
    time -= 3_600_000;
    await called;
  });

  it('does not make it early where it only lags', async () => {
    const origin = performance.now();
    // Runs at half speed.
    const clock = clockOf(() => NOON + (performance.now() - origin) / 2);
    await new Promise<void>((resolve) => {
      clock.at(NOON + 100, resolve);
    });
    expect(clock.now()).toBeGreaterThanOrEqual(NOON + 100);
  });
});
