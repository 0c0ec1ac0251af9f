/** Triggers with `Debounce`, on every store. */
import { expect, it } from 'vitest';
import { eventually } from '../../../sdk/test/support/eventually.js';
import type { Workflow } from '../../src/api/wire/models/workflow.js';
import type { JsonObject } from '../../src/engine/values/json.js';
import { fresh } from './support/client.js';
import { runsOf, start, triggerOf } from './support/doors.js';
import { everyStore } from './support/every-store.js';
import { chain, mark } from './support/steps.js';

const STEPS = chain(mark('first'), mark('second'));

everyStore('a debounced trigger', (at) => {
  const define = (debounce: JsonObject, rest: JsonObject = {}) =>
    at.client.define({
      Triggers: [{ Name: 'main', Event: { Name: fresh('changed') }, Debounce: debounce, ...rest }],
      Steps: STEPS,
    });
  const eventOf = async (id: string): Promise<string> =>
    (await triggerOf(at.client, id)).eventName!;

  it('starts one run for the events of a key, with the data of all of them', async () => {
    const { client } = at;
    const id = await define({ Period: '1h', Key: 'context.Trigger.EventKey', Data: 'List' });
    const name = await eventOf(id);
    for (const n of [1, 2, 3]) await client.publish(name, 'a', { n });
    await client.publish(name, 'b', { n: 4 });
    await eventually('all events are collected', async () => {
      const runs = await Promise.all(
        (await runsOf(client, id)).map(({ workflowId }) => client.workflow(workflowId)),
      );
      const starts = runs.map(({ debounce }) => debounce?.starts ?? 0);
      return starts.toSorted().join() === '1,3';
    });
    const runs = await runsOf(client, id);
    const whole = await Promise.all(runs.map(({ workflowId }) => client.workflow(workflowId)));
    const run = whole.find(({ debounce }) => debounce?.key === 'a')!;
    expect(run.data).toEqual({ items: [{ n: 1 }, { n: 2 }, { n: 3 }] });
    expect(run.trigger).toMatchObject({ name: 'main' });
    expect((await triggerOf(client, id)).last).toMatchObject({ outcome: 'Started', reason: null });
    // A client joins the same window.
    const query = 'debounce=00:00:00.001&debounceKey=a';
    const joined = await start(client, id, { n: 5 }, query);
    expect(joined).toMatchObject({ status: 200, body: { workflowId: run.workflowId } });
    const { data } = await client.ended(run.workflowId);
    expect(data).toMatchObject({ items: [{ n: 1 }, { n: 2 }, { n: 3 }, { n: 5 }] });
  });

  it('fails if its key fails, and starts a run by hand at once', async () => {
    const { client } = at;
    const id = await define({ Period: '1h', Key: 'context.Trigger.EventData["k"]' });
    const name = await eventOf(id);
    await client.publish(name, 'a', {});
    await eventually('the trigger has failed', async () => {
      const { last } = await triggerOf(client, id);
      return last?.outcome === 'Failed' && last.reason?.includes("'k'") === true;
    });
    expect(await runsOf(client, id)).toEqual([]);
    await client.publish(name, 'a', { k: 'x'.repeat(257) });
    await eventually('the key is too long', async () => {
      const { last } = await triggerOf(client, id);
      return last?.reason?.includes('257 characters') === true;
    });
    const fired = await client.call<Workflow>('POST', `/api/definition/${id}/triggers/main/fire`);
    expect([fired.status, fired.body.debounce]).toEqual([201, null]);
    await client.ended(fired.body.workflowId);
  });
});
