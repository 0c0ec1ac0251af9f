/** Nodes follow the time of their database, whatever happens to the clocks of their machines. */
import { describe, expect, it } from 'vitest';
import { createLogger } from '../../../src/base/logger.js';
import { clockOf } from '../../../src/base/clock.js';
import { SharedClock } from '../../../src/runtime/fleet/shared-clock.js';

const NOON = Date.UTC(2026, 5, 1, 12);

/** A machine whose clock and steady clock the test moves. */
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

describe('a clock shared by nodes', () => {
  it('starts with the time of the machine, and then runs independently of it', () => {
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
    'adopts the time of a database that differs by %i ms, and logs this once',
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

  it('ignores a difference that the duration of the call explains', () => {
    const at = machine();
    at.clock.adjust(NOON - 5000, 10_000);
    at.clock.adjust(NOON - 3, 2);
    expect(at.clock.now()).toBe(NOON);
    expect(at.warnings).toEqual([]);
  });

  it('is as accurate as the fastest response of the database allows', () => {
    const at = machine();
    // The database is actually 300 ms ahead.
    at.clock.adjust(NOON + 300 - 900, 1000);
    at.clock.adjust(NOON + 300 - 5, 20);
    at.clock.adjust(NOON + 300 - 1, 2);
    at.clock.adjust(NOON + 300 - 400, 500);
    expect(at.clock.now()).toBeGreaterThanOrEqual(NOON + 298);
    expect(at.clock.now()).toBeLessThanOrEqual(NOON + 302);
  });

  it('pauses if it was slightly ahead, and never goes back', () => {
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

describe('a machine clock that is wrong', () => {
  it('does not delay a timer when it is set back', async () => {
    let time = NOON;
    const clock = clockOf(() => time);
    const called = new Promise<void>((resolve) => {
      clock.at(NOON + 50, resolve);
    });
    time -= 3_600_000;
    await called;
  });

  it('does not fire a timer early when it runs slow', async () => {
    const origin = performance.now();
    // Runs at half speed.
    const clock = clockOf(() => NOON + (performance.now() - origin) / 2);
    await new Promise<void>((resolve) => {
      clock.at(NOON + 100, resolve);
    });
    expect(clock.now()).toBeGreaterThanOrEqual(NOON + 100);
  });
});
