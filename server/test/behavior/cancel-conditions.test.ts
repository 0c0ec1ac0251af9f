/**
 * A true CancelCondition takes effect at the next commit at the latest, however long the pass took that made it true.
 */
import { expect, it } from 'vitest';
import type { JsonObject } from '../../src/engine/values/json.js';
import { everyStore } from './support/every-store.js';
import { chain, compute, mark, step } from './support/steps.js';

/** Longer than a pass may take (50 ms), so that the pass is over when `stop` is set. */
const SLOW_TRUE = 'sum(1 for _ in range(800000)) > 0';

/** Ends only if its condition takes effect: nobody publishes the event. */
const endless = (rest: JsonObject = {}): JsonObject =>
  step(
    'endless',
    'WaitFor',
    { EventName: '"never"', EventKey: '"published"' },
    { CancelCondition: 'data.get("stop", False)', ...rest },
  );

const beside = (...other: readonly JsonObject[]): JsonObject[] =>
  chain(step('both', 'Parallel', {}, { Do: [[endless()], chain(...other)] }), mark('after'));

everyStore(
  'a cancel condition',
  (at) => {
    it('takes effect if the step that made it true took longer than a pass', async () => {
      const ended = await at.client.run(beside(compute('slow', { stop: SLOW_TRUE })));
      expect(ended).toMatchObject({ status: 'Complete', data: { trail: ['after'] } });
      expect(await at.client.trace(ended.workflowId)).toContain('endless Cancelled');
    });

    it('takes effect on runs that compete for interpreters', async () => {
      const definitionId = await at.client.define(beside(compute('slow', { stop: SLOW_TRUE })));
      const ids = await Promise.all(
        Array.from({ length: 12 }, async () => at.client.start(definitionId)),
      );
      for (const id of ids) expect(await at.client.ended(id)).toMatchObject({ status: 'Complete' });
    });

    it('takes effect at the resume if it became true during the suspension', async () => {
      const { client } = at;
      const id = await client.defineAndStart(
        beside(step('pause', 'Delay', { Period: 0.3 }), compute('slow', { stop: SLOW_TRUE })),
      );
      await client.untilWaiting(id, 'pause');
      await client.control(id, 'suspend');
      await at.restart();
      await at.client.control(id, 'resume');
      expect(await at.client.ended(id)).toMatchObject({ status: 'Complete' });
    });

    it('cancels a step that the cancellation of another one has opened before it runs', async () => {
      const ended = await at.client.run(
        chain(
          step(
            'each',
            'Foreach',
            { Collection: '[1, 2, 3]', RunParallel: 'False' },
            { Do: [[mark('item', { CancelCondition: 'True' })]] },
          ),
          mark('after'),
        ),
      );
      expect(ended).toMatchObject({ status: 'Complete', data: { trail: ['after'] } });
    });
  },
  { dialects: 'alternating' },
);
