/** Starts: their options, their input, one open run for each reference, start and result in one request. */
import { expect, it } from 'vitest';
import type { Explanation } from '../../src/api/wire/models/explanation.js';
import type { Workflow } from '../../src/api/wire/models/workflow.js';
import type { JsonObject } from '../../src/engine/values/json.js';
import { eventually } from '../../../sdk/test/support/eventually.js';
import { observeStore } from '../../src/store/observed-store.js';
import { Client, fresh } from './support/client.js';
import { everyStore, type Surroundings } from './support/every-store.js';
import { startServer } from './support/server.js';
import { chain, compute, mark, step } from './support/steps.js';

const WAITING = [step('wait', 'Delay', { Period: 3600 })];

function start(
  client: Client,
  id: string,
  query: string,
  { data = {} }: { readonly data?: JsonObject } = {},
) {
  return client.post<Workflow>(`/api/workflow/${id}?${query}`, data);
}

async function explain(client: Client, id: string): Promise<Explanation> {
  return (await client.get<Explanation>(`/api/workflow/${id}/explain`)).body;
}

function openOf(at: Surroundings, id: string) {
  return at.client.get<{ items: Workflow[] }>(
    `/api/workflow?definitionId=${id}&status=Runnable&limit=500`,
  );
}

everyStore('starts', (at) => {
  it('starts the version in the request', async () => {
    const { client } = at;
    const Id = fresh('versions');
    for (const v of ['1', '2']) await client.postDefinition({ Id, Steps: [compute('v', { v })] });
    expect((await start(client, Id, 'version=1&wait=20')).body).toMatchObject({
      version: 1,
      data: { v: 1 },
    });
    expect((await start(client, Id, 'wait=20')).body).toMatchObject({ version: 2, data: { v: 2 } });
    expect((await start(client, Id, 'version=3')).body).toMatchObject({
      status: 404,
      code: 'definition_not_found',
    });
    for (const version of ['0', 'x', '1.5']) {
      expect((await start(client, Id, `version=${version}`)).status).toBe(400);
    }
  });

  it('runs the first step at startAt, and leaves the run Runnable until then', async () => {
    const { client } = at;
    const id = await client.define([mark('first')]);
    const startAt = new Date(Date.now() + 3_600_000).toISOString();
    const { body, status } = await start(client, id, `startAt=${startAt}&wait=0`);
    expect(status).toBe(201);
    expect(body).toMatchObject({ status: 'Runnable', endTime: null });
    expect(Date.parse(body.startTime)).toBeLessThan(Date.parse(startAt));
    const explanation = await explain(client, body.workflowId);
    expect(explanation.summary).toContain(`starts at ${startAt}`);
    expect((await client.call('PUT', `/api/workflow/${body.workflowId}/suspend`)).status).toBe(200);
    expect((await client.call('PUT', `/api/workflow/${body.workflowId}/resume`)).status).toBe(200);
    // Nothing has failed, so there is nothing to retry.
    expect((await client.call('PUT', `/api/workflow/${body.workflowId}/retry`)).status).toBe(409);
    await client.terminate(body.workflowId);
    expect(await client.workflow(body.workflowId)).toMatchObject({
      status: 'Terminated',
      data: {},
    });
  });

  it('accepts a modification before the first step', async () => {
    const { client } = at;
    const id = await client.define(chain(mark('first'), mark('second')));
    const startAt = new Date(Date.now() + 3_600_000).toISOString();
    const { body } = await start(client, id, `startAt=${startAt}`, { data: { n: 1, gone: 2 } });
    const path = `/api/workflow/${body.workflowId}`;
    const change = { data: { n: 5, gone: null }, reason: 'wrong order' };
    const modified = await client.post<JsonObject>(`${path}/modify`, change);
    expect(modified.status, modified.text).toBe(200);
    // It has not started a step, and starts at the same time as before.
    expect(await client.workflow(body.workflowId)).toMatchObject({
      status: 'Runnable',
      data: { n: 5 },
    });
    expect((await explain(client, body.workflowId)).summary).toContain(`starts at ${startAt}`);
    expect((await client.get(`${path}/input`)).body).toEqual({ n: 1, gone: 2 });

    // The first step sees what was modified; the time of the start stays.
    const soon = await start(client, id, 'delay=1', { data: { n: 1 } });
    const soonPath = `/api/workflow/${soon.body.workflowId}`;
    const answer = await client.post(`${soonPath}/modify`, { data: { n: 6 }, reason: 'late' });
    expect(answer.status, answer.text).toBe(200);
    const ended = await client.ended(soon.body.workflowId);
    expect(ended.data).toEqual({ n: 6, trail: ['first', 'second'] });
    expect(Date.parse(ended.endTime!) - Date.parse(ended.startTime)).toBeGreaterThanOrEqual(1000);
    await client.terminate(body.workflowId);
  });

  it('waits for the delay, but for no time in the past', async () => {
    const { client } = at;
    const id = await client.define([mark('first')]);
    const { body } = await start(client, id, 'delay=0.3&wait=20');
    expect(body).toMatchObject({ status: 'Complete', data: { trail: ['first'] } });
    expect(Date.parse(body.endTime!) - Date.parse(body.startTime)).toBeGreaterThanOrEqual(300);
    const past = await start(client, id, 'startAt=2001-01-01&wait=20');
    expect(past.body).toMatchObject({ status: 'Complete' });
    expect((await start(client, id, 'startAt=2001-01-01&delay=PT1S')).status).toBe(400);
    expect((await start(client, id, 'delay=soon')).body).toMatchObject({
      errors: [{ parameter: 'delay' }],
    });
    expect((await start(client, id, 'startAt=soon')).body).toMatchObject({
      errors: [{ parameter: 'startAt' }],
    });
  });

  it('receives events from its acceptance on', async () => {
    const { client } = at;
    const key = fresh('key');
    const id = await client.define([
      step(
        'wait',
        'WaitFor',
        { EventName: '"paid"', EventKey: `"${key}"` },
        { Outputs: { got: 'step.EventData' } },
      ),
    ]);
    const { body } = await start(client, id, 'delay=0.5');
    await client.post(`/api/event/paid/${key}`, 7);
    expect((await client.ended(body.workflowId)).data).toEqual({ got: 7 });
  });

  it('rejects invalid tags and options', async () => {
    const { client } = at;
    const id = await client.define({ Steps: WAITING, Tags: { team: 'a' } });
    for (const query of [
      'tag=x',
      'tag=:y',
      'tag=a:1&tag=a:2',
      `tag=${'n'.repeat(65)}:1`,
      `tag=a:${'v'.repeat(257)}`,
      Array.from({ length: 20 }, (_, n) => `tag=t${n}:1`).join('&'),
      'onConflict=fail',
      'onConflict=never&reference=r',
      'wait=-1',
    ]) {
      expect((await start(client, id, query)).status, query).toBe(400);
    }
    const accepted = await start(client, id, 'tag=a:b:c&tag=empty:&tag=team:b');
    expect(accepted.status, accepted.text).toBe(201);
    expect(accepted.body.tags).toEqual({ a: 'b:c', empty: '', team: 'b' });
    expect((await client.workflow(accepted.body.workflowId)).tags).toEqual(accepted.body.tags);
  });

  it('fails, joins or terminates if the reference is in use', async () => {
    const { client } = at;
    const id = await client.define(WAITING);
    const first = await start(client, id, 'reference=r&onConflict=fail');
    expect(first.status).toBe(201);
    const failed = await start(client, id, 'reference=r&onConflict=fail');
    expect(failed.body).toMatchObject({
      status: 409,
      code: 'reference_in_use',
      workflowId: first.body.workflowId,
    });
    const second = await start(client, id, 'reference=r');
    const joined = await start(client, id, 'reference=r&onConflict=existing');
    expect(joined.status).toBe(200);
    expect(joined.body.workflowId).toBe(second.body.workflowId);
    const third = await start(client, id, 'reference=r&onConflict=terminate');
    expect(third.status).toBe(201);
    for (const { body } of [first, second]) {
      expect(await client.workflow(body.workflowId)).toMatchObject({ status: 'Terminated' });
      const audit = await client.get<{ items: unknown[] }>(
        `/api/workflow/${body.workflowId}/audit`,
      );
      expect(audit.body.items).toMatchObject([
        { action: 'terminate', detail: `replaced by run ${third.body.workflowId}` },
      ]);
    }
    expect((await openOf(at, id)).body.items).toHaveLength(1);
    const unused = await start(client, id, 'reference=other&onConflict=existing');
    expect(unused.status).toBe(201);
  });

  it('ignores the data of a start with existing, and waits for the open run', async () => {
    const { client } = at;
    const key = fresh('key');
    const id = await client.define({
      Input: { type: 'object', required: ['n'], properties: { m: { default: 1 } } },
      Steps: chain(
        step('wait', 'WaitFor', { EventName: '"go"', EventKey: `"${key}"` }),
        mark('end'),
      ),
    });
    const first = await start(client, id, 'reference=r', { data: { n: 5 } });
    const joins = async (): Promise<string | undefined> =>
      /^stepwright_starts_joined_total \d+/m.exec((await client.get('/metrics')).text)?.[0];
    const before = await joins();
    const joining = start(client, id, 'reference=r&onConflict=existing&wait=20', {
      data: { wrong: 1 },
    });
    await eventually('the start has joined', async () => (await joins()) !== before);
    await client.publish('go', key, true);
    const joined = await joining;
    expect(joined.status, joined.text).toBe(200);
    expect(joined.body).toMatchObject({
      workflowId: first.body.workflowId,
      status: 'Complete',
      data: { n: 5, m: 1, trail: ['end'] },
    });
    const alone = await start(client, id, 'reference=r&onConflict=existing', {
      data: { wrong: 1 },
    });
    expect(alone.body).toMatchObject({ status: 400, code: 'invalid_data' });
  });

  it('refuses starts of a disabled definition, while open runs continue', async () => {
    const { client } = at;
    const id = await client.define(chain(step('wait', 'Delay', { Period: 1.5 }), mark('end')));
    const running = await client.start(id, {}, 'r');
    const disabled = await client.call<JsonObject>('PUT', `/api/definition/${id}/disable`);
    expect(disabled.status).toBe(200);
    expect(disabled.body).toMatchObject({ id, version: 1, disabled: true });
    for (const query of ['', 'version=1', 'reference=r&onConflict=existing', 'delay=5']) {
      const refused = await start(client, id, query);
      expect(refused.body).toMatchObject({ status: 409, code: 'definition_disabled' });
    }
    const parent = await client.run([
      step('sub', 'SubWorkflow', { DefinitionId: `"${id}"` }, { ErrorBehavior: 'Terminate' }),
    ]);
    expect(parent.lastError).toMatchObject({
      type: 'SubWorkflowFailed',
      message: expect.stringContaining('disabled') as unknown,
    });
    const shown = await client.get<JsonObject>(`/api/definition/${id}`);
    expect(shown.body['disabled']).toBe(true);
    // What was read can be posted again.
    expect((await client.post(`/api/definition?strict=true`, shown.body)).status).toBe(201);
    expect((await start(client, id, '')).status).toBe(409);
    expect((await client.ended(running)).data).toEqual({ trail: ['end'] });
    const enabled = await client.call<JsonObject>('PUT', `/api/definition/${id}/enable`);
    expect(enabled.body).toMatchObject({ disabled: false });
    expect((await start(client, id, '')).status).toBe(201);
    expect((await client.call('PUT', '/api/definition/nowhere/disable')).status).toBe(404);
  });

  it("keeps the input as it was posted, also if it's long", async () => {
    const { client } = at;
    const id = await client.define({
      Input: { properties: { color: { default: 'red' } } },
      Steps: [compute('change', { n: 'data.n + 1' })],
    });
    const long = { n: 1, text: 'é'.repeat(20_000) };
    for (const data of [{ n: 1, big: 9_007_199_254_740_991 }, long]) {
      const { body } = await start(client, id, 'wait=20', { data });
      expect(body.data).toEqual({ ...data, n: 2, color: 'red' });
      const input = await client.get(`/api/workflow/${body.workflowId}/input`);
      expect([input.status, input.body]).toEqual([200, data]);
    }
    expect((await client.get('/api/workflow/nowhere/input')).status).toBe(404);
  });
});

everyStore('a start with wait', (at) => {
  it('precedes waits that show changed tags', async () => {
    const { client } = at;
    const id = await client.define([mark('a')]);
    const { body } = await start(client, id, 'tag=team:a&wait=20');
    expect(body).toMatchObject({ status: 'Complete', tags: { team: 'a' } });
    const path = `/api/workflow/${body.workflowId}`;
    const changes = { body: '{"team": "b"}', type: 'application/json' };
    expect((await client.call('PATCH', `${path}/tags`, changes)).status).toBe(200);
    expect((await client.get(`${path}?wait=20`)).body).toMatchObject({ tags: { team: 'b' } });
  });

  it('takes one request, one write and no read of the run for three plain steps', async () => {
    const { client } = at;
    const calls: string[] = [];
    const counting = await startServer({
      store: at.store.open(),
      wrapStore: (store) => observeStore(store, { before: ({ name }) => void calls.push(name) }),
    });
    try {
      const id = await client.define(chain(mark('a'), mark('b'), mark('c')));
      const other = new Client(counting.url, client.dialect);
      const aboutRuns = (): readonly string[] => calls.filter((name) => name.includes('Instance'));
      // On a busy machine, a first pass may take too long, and a run is stored before its end.
      const body = await eventually('a start takes one write', async () => {
        calls.length = 0;
        const answer = await start(other, id, 'wait=20', { data: { n: 1 } });
        expect(answer.status).toBe(201);
        expect(aboutRuns()).not.toContain('getInstance');
        return aboutRuns().length === 1 && answer.body;
      });
      expect(aboutRuns()).toEqual(['insertInstance']);
      expect(body).toMatchObject({ status: 'Complete', data: { n: 1, trail: ['a', 'b', 'c'] } });
      // The response is what a read shows.
      expect(await client.workflow(body.workflowId)).toEqual(body);
    } finally {
      await counting.stop();
    }
  });

  it('returns the current run when the time is up', async () => {
    const { client } = at;
    const id = await client.define(WAITING);
    const { body } = await start(client, id, 'wait=1');
    expect(body).toMatchObject({ status: 'Runnable', endTime: null });
    await client.terminate(body.workflowId);
  });
});

const STARTS = 100;

everyStore(
  `${STARTS} simultaneous starts with one reference`,
  (at) => {
    it.each(['fail', 'existing', 'terminate'])('leaves one run open with %s', async (rule) => {
      // A second node on the same store, where the store can be shared.
      const other = await startServer({ store: at.store.open() });
      try {
        const clients = [at.client, new Client(other.url, at.client.dialect)];
        const id = await at.client.define(WAITING);
        const answers = await Promise.all(
          Array.from({ length: STARTS }, (_, n) =>
            start(clients[n % 2]!, id, `reference=r&onConflict=${rule}`),
          ),
        );
        const { items } = (await openOf(at, id)).body;
        expect(items).toHaveLength(1);
        const started = answers.filter(({ status }) => status === 201);
        expect(started).toHaveLength(rule === 'terminate' ? STARTS : 1);
        const refused = answers.filter(({ status }) => status !== 201);
        for (const { body } of refused) expect(body.workflowId).toBe(items[0]!.workflowId);
        await at.client.terminate(items[0]!.workflowId);
      } finally {
        await other.stop();
      }
    });

    it('leaves one run open if two starts replace 200 open runs', async () => {
      const other = await startServer({ store: at.store.open() });
      try {
        const clients = [at.client, new Client(other.url, at.client.dialect)];
        const id = await at.client.define(WAITING);
        const before: string[] = [];
        while (before.length < 200) {
          const started = Array.from({ length: 50 }, () => at.client.start(id, {}, 'r'));
          before.push(...(await Promise.all(started)));
        }
        const answers = await Promise.all(
          clients.map((client) => start(client, id, 'reference=r&onConflict=terminate')),
        );
        expect(answers.map(({ status }) => status)).toEqual([201, 201]);
        const ids = answers.map(({ body }) => body.workflowId);
        const { items } = (await openOf(at, id)).body;
        expect(items).toHaveLength(1);
        expect(ids).toContain(items[0]!.workflowId);
        const ended = await at.client.get<{ count: number }>(
          `/api/workflow/count?definitionId=${id}&outcome=Terminated`,
        );
        expect(ended.body.count).toBe(201);
        await at.client.terminate(items[0]!.workflowId);
      } finally {
        await other.stop();
      }
    });
  },
  { dialects: 'alternating' },
);
