/** What lately got no slots. */
import { expect, it } from 'vitest';
import { RefusedLately } from '../../../src/base/limits/refused-lately.js';
import { ManualClock } from '../../runtime/support/manual-clock.js';

it('knows a name for a second', () => {
  const clock = new ManualClock();
  const names = new RefusedLately(clock);
  names.add('ship');
  expect([names.has('ship'), names.has('pack')]).toEqual([true, false]);
  clock.advance(600);
  names.add('pack');
  clock.advance(400);
  expect([names.has('ship'), names.has('pack')]).toEqual([false, true]);
});

it('keeps a bounded number of names', () => {
  const names = new RefusedLately(new ManualClock());
  for (let n = 0; n <= 1000; n += 1) names.add(`ship-${n}`);
  expect([names.has('ship-0'), names.has('ship-1000')]).toEqual([false, true]);
});
