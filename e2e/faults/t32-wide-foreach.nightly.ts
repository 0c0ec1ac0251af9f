import { describe, expect, it } from 'vitest';
import { definition } from './support/definitions.js';
import { inLanes } from './support/lanes.js';
import { PersistentClient } from './support/persistent-client.js';
import { scaled } from './support/random.js';
import { storedStateBytes } from './support/stored-state.js';
import { untilEnded } from './support/until-ended.js';
import { withFleet } from './support/with-fleet.js';
import type { Instance, WorkItem } from './support/wire.js';

/** Enough that results arrive faster than an instance of this size is committed. */
const WORKERS = 48;
/** A pointer in the instance, with its item and its wait; the results go to the history. */
const BYTES_PER_ITEM_MAX = 1000;

const WIDE = definition('wide', [
  {
    Id: 'each',
    StepType: 'Foreach',
    Inputs: { Collection: 'list(range(data.n))' },
    Do: [
      [
        {
          Id: 'work',
          StepType: 'Activity',
          Inputs: { ActivityName: '"wide"', Parameters: { '@n': 'context.Item' } },
        },
      ],
    ],
  },
  { Id: 'end', StepType: 'NoOp', Outputs: { ended: 'True' } },
]);

describe.each([
  { store: 'sqlite', items: 5000 },
  { store: 'mongo', items: 5000 },
  { store: 'postgres', items: 5000 },
] as const)('T-32 one run with very many branches on $store', ({ store, items }) => {
  it('takes many results in one commit, and ends', { timeout: 1_200_000 }, async () => {
    await withFleet({ count: 1, store }, async ({ fleet }) => {
      const client = new PersistentClient(() => fleet.urls);
      const count = scaled(items);
      await client.call('POST', '/api/definition', { body: WIDE });
      const start = await client.call('POST', '/api/workflow/wide', { body: { n: count } });
      const { workflowId } = start.body as Instance;
      const commits = (): Promise<number> =>
        fleet.metric('stepwright_store_operations_total{operation="commitInstance",result="ok"}');
      const before = await commits();
      const seen = new Set<number>();
      let stateBytesMax = 0;
      const tasks = Array.from({ length: count }, (_, at) => at);
      const beganAt = Date.now();
      await inLanes(WORKERS, tasks, async (at) => {
        for (;;) {
          const path = '/api/activity/wide?workerId=w&timeout=5';
          const found = await client.call('GET', path, { expected: [200, 404] });
          if (found.status === 404) continue;
          const { parameters, token } = found.body as WorkItem;
          seen.add(parameters.n);
          await client.call('POST', `/api/activity/success/${token}`, { body: 'done' });
          break;
        }
        if (at % 500 !== 0) return;
        stateBytesMax = Math.max(stateBytesMax, await storedStateBytes(fleet, workflowId));
      });
      const seconds = (Date.now() - beganAt) / 1000;
      const { data, status } = await untilEnded(client, workflowId);
      const made = (await commits()) - before;
      console.log(`T-32 ${store}`, { items: count, commits: made, stateBytesMax, seconds });
      expect(status).toBe('Complete');
      expect(data['ended']).toBe(true);
      expect(seen.size).toBe(count);
      expect(made).toBeLessThan(count / 5);
      expect(stateBytesMax).toBeLessThan(count * BYTES_PER_ITEM_MAX);
    });
  });
});
