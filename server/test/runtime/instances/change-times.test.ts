import { describe, expect, it } from 'vitest';
import { ChangeTimes } from '../../../src/runtime/instances/change-times.js';

function createTimes() {
  const clock = { time: 1000, now: () => clock.time };
  return { clock, times: new ChangeTimes(clock) };
}

describe('the time of a change', () => {
  it('is that of the clock', () => {
    const { clock, times } = createTimes();
    times.reporting(900);
    expect(times.now()).toBe(1000);
    clock.time = 2000;
    expect(times.now()).toBe(2000);
  });

  it('is never before what a heartbeat reports, although the clock was set back', () => {
    const { clock, times } = createTimes();
    times.reporting(900);
    times.reported(true);
    clock.time = 100;
    expect(times.now()).toBe(900);
  });

  it('is before it once a heartbeat has reported the earlier time', () => {
    const { clock, times } = createTimes();
    times.reporting(900);
    times.reported(true);
    clock.time = 100;
    times.reporting(50);
    expect(times.now()).toBe(900);
    times.reported(true);
    expect(times.now()).toBe(100);
  });

  it('is not before it while an earlier heartbeat may still arrive', () => {
    const { clock, times } = createTimes();
    times.reporting(900);
    times.reported(false);
    clock.time = 100;
    times.reporting(50);
    times.reported(true);
    expect(times.now()).toBe(900);
  });
});
