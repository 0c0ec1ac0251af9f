import { describe, expect, it } from 'vitest';
import { definition } from './support/definitions.js';
import { inLanes } from './support/lanes.js';
import { PersistentClient } from './support/persistent-client.js';
import { scaled } from './support/random.js';
import { untilEnded } from './support/until-ended.js';
import { withFleet } from './support/with-fleet.js';
import type { Instance } from './support/wire.js';

const RUNS = 1000;
const CLIENTS = 150;

/** One branch waits for something that never comes; the other takes longer than a pass to make its condition true. */
const CANCELED = definition('canceled', [
  {
    Id: 'both',
    StepType: 'Parallel',
    Do: [
      [
        {
          Id: 'endless',
          StepType: 'WaitFor',
          Inputs: { EventName: '"never"', EventKey: '"published"' },
          CancelCondition: 'data.get("stop", False)',
        },
      ],
      [
        {
          Id: 'slow',
          StepType: 'NoOp',
          Outputs: { stop: 'sum(1 for _ in range(data.n)) > 0' },
        },
      ],
    ],
  },
  { Id: 'end', StepType: 'NoOp', Outputs: { ended: 'True' } },
]);

describe.each(['sqlite', 'mongo', 'postgres'] as const)('T-36 CancelCondition on %s', (store) => {
  it('takes effect in every run, however busy the server is', { timeout: 1_200_000 }, async () => {
    await withFleet({ count: 1, store }, async ({ fleet }) => {
      const client = new PersistentClient(() => fleet.urls);
      await client.call('POST', '/api/definition', { body: CANCELED });
      const tasks = Array.from({ length: scaled(RUNS) }, (_, at) => at);
      const beganAt = Date.now();
      let completed = 0;
      await inLanes(CLIENTS, tasks, async (at) => {
        // Every second script takes far less than a pass, so that passes end at many different points.
        const body = { n: at % 2 === 0 ? 1_000_000 : 10 };
        const started = await client.call('POST', '/api/workflow/canceled', { body });
        const { workflowId } = started.body as Instance;
        const { data, status } = await untilEnded(client, workflowId);
        expect(status).toBe('Complete');
        expect(data['ended']).toBe(true);
        completed += 1;
      });
      const seconds = (Date.now() - beganAt) / 1000;
      console.log(`T-36 ${store}`, { runs: tasks.length, completed, seconds });
      expect(completed).toBe(tasks.length);
    });
  });
});
