import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { definition } from './support/definitions.js';
import { eventually } from './support/eventually.js';
import { PersistentClient } from './support/persistent-client.js';
import { scaled } from './support/random.js';
import { withFleet } from './support/with-fleet.js';
import type { Instance } from './support/wire.js';

const PAUSE_MS = 250;
/** An event is published so much before or after its wait should begin. */
const SPREAD_MS = 60;

const RACE = definition('race', [
  { Id: 'pause', StepType: 'Delay', Inputs: { Period: PAUSE_MS / 1000 } },
  ...['first', 'second'].map((id) => ({
    Id: id,
    StepType: 'WaitFor',
    Inputs: { EventName: '"go"', EventKey: 'data.name' },
    Outputs: { [id]: 'step.EventData' },
  })),
]);

describe.each([
  { store: 'sqlite', count: 200 },
  { store: 'services', count: 100 },
] as const)('T-10 event and wait at the same moment on $store', ({ store, count }) => {
  it('gives every event to its wait, once', async () => {
    await withFleet({ count: 2, store }, async ({ fleet, random }) => {
      const starter = new PersistentClient(() => [fleet.node(0).url]);
      const publisher = new PersistentClient(() => [fleet.node(1).url]);
      await starter.call('POST', '/api/definition', { body: RACE });
      let deliveredAtOnce = 0;
      const race = async (name: string): Promise<void> => {
        const started = await starter.call('POST', '/api/workflow/race', { body: { name } });
        const { workflowId } = started.body as Instance;
        await setTimeout(PAUSE_MS + (random() * 2 - 1) * SPREAD_MS);
        const event = await publisher.call('POST', `/api/event/go/${name}`, { body: 'one' });
        deliveredAtOnce += (event.body as { readonly deliveredTo: number }).deliveredTo;
        const read = async (): Promise<Instance> =>
          (await publisher.call('GET', `/api/workflow/${workflowId}`)).body as Instance;
        await eventually(`${name} takes its event`, async () => {
          return (await read()).data['first'] === 'one';
        });
        // Were the first event given twice, the second wait would have it by now or take it instead of this one.
        await starter.call('POST', `/api/event/go/${name}`, { body: 'two' });
        await eventually(`${name} ends`, async () => (await read()).status === 'Complete');
        expect((await read()).data).toEqual({ name, first: 'one', second: 'two' });
      };
      const names = Array.from({ length: scaled(count) }, (_, at) => `run-${at}`);
      const lanes = Array.from({ length: 20 }, async () => {
        for (let name = names.shift(); name !== undefined; name = names.shift()) await race(name);
      });
      await Promise.all(lanes);
      console.log(`T-10 ${store}`, { runs: scaled(count), deliveredAtOnce });
      // Both sides of the race were met: some waits were there before their event, some after it.
      expect(deliveredAtOnce).toBeGreaterThan(0);
      expect(deliveredAtOnce).toBeLessThan(scaled(count));
    });
  });
});
