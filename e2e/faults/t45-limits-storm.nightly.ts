import { describe, it } from 'vitest';
import { limitedStorm } from './support/limited/limited-storm.js';
import { scaled } from './support/random.js';
import { withFleet } from './support/with-fleet.js';

const SIZE = { runs: scaled(300), kills: scaled(25) };

describe.each([
  { store: 'sqlite', count: 1 },
  { store: 'sqlite', count: 2 },
  { store: 'postgres', count: 2 },
  { store: 'mongo', count: 2 },
] as const)('T-45 a storm of kill -9 under limits on $count x $store', ({ count, store }) => {
  it('exceeds no limit, and ends with nothing held', async () => {
    await withFleet({ count, store }, async (scene) => {
      console.log(`T-45 ${count} x ${store}`, await limitedStorm(scene, SIZE));
    });
  });
});
