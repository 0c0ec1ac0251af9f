/** GET /api/overview: runs by status and definition, what started and ended, and work without workers. */
import { expect, it } from 'vitest';
import { eventually } from '../../../sdk/test/support/eventually.js';
import type { Overview } from '../../src/api/wire/models/overview.js';
import { fresh } from './support/client.js';
import { CAMEL_JSON } from './support/dialects.js';
import { everyStore } from './support/every-store.js';
import { activity, compute, step } from './support/steps.js';

everyStore(
  'the overview',
  (at) => {
    const read = async (): Promise<Overview> => {
      const { body, status, text } = await at.client.get<Overview>('/api/overview');
      expect(status, text).toBe(200);
      return body;
    };

    it('counts each start and each end once, in the last hour and the last day', async () => {
      const succeeds = await at.client.define([compute('a', { a: '1' })]);
      const fails = await at.client.define([
        step('a', 'Fail', { Message: '"no"' }, { ErrorBehavior: 'Terminate' }),
      ]);
      const waits = await at.client.define([activity('ask', fresh('queue'))]);
      for (let left = 3; left > 0; left -= 1) {
        await at.client.ended(await at.client.start(succeeds));
      }
      await at.client.ended(await at.client.start(fails));
      const stopped = await at.client.start(waits);
      expect((await at.client.call('DELETE', `/api/workflow/${stopped}`)).status).toBeLessThan(300);
      const overview = await eventually('all ends are counted', async () => {
        const value = await read();
        return sum(value.lastDay, 'stopped') > 0 && value;
      });
      expect(overview.lastHour).toHaveLength(60);
      expect(overview.lastDay).toHaveLength(24);
      for (const buckets of [overview.lastHour, overview.lastDay]) {
        expect(sum(buckets, 'started')).toBe(5);
        expect(sum(buckets, 'succeeded')).toBe(3);
        expect(sum(buckets, 'failed')).toBe(1);
        expect(sum(buckets, 'stopped')).toBe(1);
        const ended = buckets.filter(({ meanMs }) => meanMs !== null);
        for (const { longestMs, meanMs } of ended) {
          expect(meanMs).toBeGreaterThanOrEqual(0);
          expect(longestMs).toBeGreaterThanOrEqual(meanMs!);
        }
      }
      expect(overview.runs).toMatchObject({ runnable: 0, suspended: 0 });
      expect(overview.nodes).toEqual({ alive: 1, dead: 0 });
      expect(Date.parse(overview.countedSince)).toBeLessThanOrEqual(Date.parse(overview.time));
    });

    it('counts open runs by definition, and shows work that no worker requests', async () => {
      const name = fresh('queue');
      const definitionId = await at.client.define([activity('ask', name)]);
      const [first] = [await at.client.start(definitionId), await at.client.start(definitionId)];
      await at.client.call('PUT', `/api/workflow/${first}/suspend`);
      const overview = await eventually('the run is suspended', async () => {
        const value = await read();
        return value.definitions[0]?.suspended === 1 && value;
      });
      expect(overview.definitions).toEqual([
        { definitionId, runnable: 1, suspended: 1, exact: true },
      ]);
      expect(overview).toMatchObject({
        definitionsExact: true,
        runs: { runnable: 1, suspended: 1 },
        queues: [{ activityName: name, waiting: 2, pollers: 0, lastPollTime: null }],
        unattendedQueues: 1,
      });
    });
  },
  { dialects: [CAMEL_JSON] },
);

type Counted = 'started' | 'succeeded' | 'failed' | 'stopped';

function sum(buckets: Overview['lastDay'], name: Counted): number {
  return buckets.reduce((total, bucket) => total + bucket[name], 0);
}
