/** Debounced starts, by clients, on every store. A period of an hour never ends in a test, one of 1 ms at once. */
import { expect, it } from 'vitest';
import type { Explanation } from '../../src/api/wire/models/explanation.js';
import type { Workflow } from '../../src/api/wire/models/workflow.js';
import type { JsonObject } from '../../src/engine/values/json.js';
import { fresh, type Client } from './support/client.js';
import { start } from './support/doors.js';
import { everyStore } from './support/every-store.js';
import { chain, mark, step } from './support/steps.js';

const STEPS = chain(mark('first'), mark('second'));
const HOUR = 'debounce=PT1H';
/** Moves the time of the run to now, so that it begins. */
const NOW = 'debounce=00:00:00.001';

interface Started {
  readonly status: number;
  readonly run: Workflow;
}

async function debounced(
  client: Client,
  id: string,
  data: JsonObject,
  options: string | { readonly query: string; readonly headers: Readonly<Record<string, string>> },
): Promise<Started> {
  const { headers, query } =
    typeof options === 'string' ? { query: options, headers: {} } : options;
  const answer = await client.post<Workflow>(`/api/workflow/${id}?${query}`, data, headers);
  expect([200, 201], answer.text).toContain(answer.status);
  return { status: answer.status, run: answer.body };
}

const ended = async (client: Client, id: string): Promise<JsonObject> => {
  const run = await client.ended(id);
  expect(run.outcome).toBe('Succeeded');
  return run.data as JsonObject;
};

everyStore('debounced starts', (at) => {
  it('starts one run for starts that follow each other, with the data of the last', async () => {
    const { client } = at;
    const id = await client.define(STEPS);
    const first = await debounced(client, id, { n: 1 }, `${HOUR}&debounceKey=k`);
    expect(first.status).toBe(201);
    expect(first.run).toMatchObject({
      status: 'Runnable',
      queued: false,
      data: { n: 1 },
      debounce: { key: 'k', data: 'last', starts: 1 },
    });
    const { latest, until } = first.run.debounce!;
    expect(Date.parse(until!) - Date.parse(first.run.startTime)).toBe(3_600_000);
    expect(Date.parse(latest) - Date.parse(first.run.startTime)).toBe(36_000_000);
    const second = await debounced(client, id, { n: 2 }, `${HOUR}&debounceKey=k`);
    expect(second).toMatchObject({ status: 200, run: { workflowId: first.run.workflowId } });
    expect(second.run).toMatchObject({ data: { n: 2 }, debounce: { starts: 2, latest } });
    expect(Date.parse(second.run.debounce!.until!)).toBeGreaterThanOrEqual(Date.parse(until!));
    const third = await debounced(client, id, { n: 3 }, `${NOW}&debounceKey=k`);
    expect(third.run.workflowId).toBe(first.run.workflowId);
    const data = await ended(client, first.run.workflowId);
    expect(data).toMatchObject({ n: 3 });
    expect(await client.workflow(first.run.workflowId)).toMatchObject({
      debounce: { key: 'k', until: null, starts: 3 },
    });
    const input = await client.get(`/api/workflow/${first.run.workflowId}/input`);
    expect(input.body).toEqual({ n: 3 });
  });

  it('opens another window once the run has begun, or was terminated', async () => {
    const { client } = at;
    const id = await client.define(STEPS);
    const { run: one } = await debounced(client, id, {}, `${HOUR}&debounceKey=k`);
    await debounced(client, id, {}, `${NOW}&debounceKey=k`);
    await client.ended(one.workflowId);
    const two = await debounced(client, id, {}, `${HOUR}&debounceKey=k`);
    expect(two.status).toBe(201);
    await client.terminate(two.run.workflowId);
    const three = await debounced(client, id, {}, `${HOUR}&debounceKey=k`);
    expect(three.status).toBe(201);
    expect(new Set([one, two.run, three.run].map(({ workflowId }) => workflowId)).size).toBe(3);
    const joined = await debounced(client, id, {}, `${HOUR}&debounceKey=k`);
    expect(joined.run.workflowId).toBe(three.run.workflowId);
    // The repaired run begins: it takes no further start.
    const rerun = await client.post(`/api/workflow/${two.run.workflowId}/rerun`, { reason: 'x' });
    expect(rerun.status, rerun.text).toBe(200);
    await ended(client, two.run.workflowId);
  });

  it('collects the data of all starts in order, and keeps the first one for first', async () => {
    const { client } = at;
    const id = await client.define({
      Input: { type: 'object', properties: { n: { type: 'integer' }, c: { default: 'x' } } },
      Steps: STEPS,
    });
    const list = `${HOUR}&debounceData=list`;
    const { run } = await debounced(client, id, { n: 0 }, list);
    expect(run).toMatchObject({
      data: { items: [{ n: 0, c: 'x' }] },
      debounce: { key: null, data: 'list' },
    });
    for (let n = 1; n < 5; n += 1) await debounced(client, id, { n }, list);
    const refused = await start(client, id, { n: 'text' }, list);
    expect([refused.status, refused.body.code]).toEqual([400, 'invalid_data']);
    const open = await client.get(`/api/workflow/${run.workflowId}/input`);
    expect(open.body).toEqual({ items: [0, 1, 2, 3, 4].map((n) => ({ n })) });
    await debounced(client, id, { n: 5 }, NOW);
    const data = await ended(client, run.workflowId);
    expect(data['items']).toEqual([0, 1, 2, 3, 4, 5].map((n) => ({ n, c: 'x' })));
    const input = await client.get(`/api/workflow/${run.workflowId}/input`);
    expect(input.body).toEqual({ items: [0, 1, 2, 3, 4, 5].map((n) => ({ n })) });
    const restarted = await client.post<Workflow>(`/api/workflow/${run.workflowId}/restart`, {
      reason: 'again',
    });
    expect(restarted.status, restarted.text).toBe(201);
    expect(restarted.body).toMatchObject({ debounce: null });
    expect((await ended(client, restarted.body.workflowId))['items']).toHaveLength(6);

    const first = await debounced(client, id, { n: 7 }, `${HOUR}&debounceData=first`);
    await debounced(client, id, { n: 8 }, `${NOW}&debounceData=list`);
    expect(await ended(client, first.run.workflowId)).toMatchObject({ n: 7 });
  });

  it('answers a repeated start with the run that it joined, and collects it once', async () => {
    const { client } = at;
    const id = await client.define(STEPS);
    const list = `${HOUR}&debounceData=list`;
    const key = { 'Idempotency-Key': fresh('key') };
    const other = { 'Idempotency-Key': fresh('key') };
    const { run } = await debounced(client, id, { n: 0 }, { query: list, headers: key });
    for (let count = 0; count < 2; count += 1) {
      expect((await debounced(client, id, { n: 1 }, { query: list, headers: other })).status).toBe(
        200,
      );
    }
    expect(await debounced(client, id, { n: 0 }, { query: list, headers: key })).toMatchObject({
      status: 201,
      run: { workflowId: run.workflowId, data: { items: [{ n: 0 }] } },
    });
    const conflict = await client.post(`/api/workflow/${id}?${list}`, { n: 2 }, other);
    expect(conflict.status).toBe(409);
    await debounced(client, id, { n: 3 }, NOW);
    expect((await ended(client, run.workflowId))['items']).toEqual([{ n: 0 }, { n: 1 }, { n: 3 }]);
    const later = await debounced(client, id, { n: 1 }, { query: list, headers: other });
    expect(later).toMatchObject({ status: 200, run: { workflowId: run.workflowId } });
  });

  it('loses none of 60 simultaneous starts, and starts one run for each key', async () => {
    const { client } = at;
    const id = await client.define(STEPS);
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, n) =>
        debounced(client, id, { n }, `${HOUR}&debounceData=list&debounceKey=k${n % 3}`),
      ),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(3);
    for (let key = 0; key < 3; key += 1) {
      const ids = answers.filter((_, n) => n % 3 === key).map(({ run }) => run.workflowId);
      expect(new Set(ids).size).toBe(1);
      const { data } = await client.workflow(ids[0]!);
      const items = (data as { items: { n: number }[] }).items.map(({ n }) => n);
      const wanted = Array.from({ length: 20 }, (_, n) => 3 * n + key);
      expect(items.toSorted((a, b) => a - b)).toEqual(wanted);
    }
  });

  it('loses no start while windows end all the time', async () => {
    const { client } = at;
    const id = await client.define(STEPS);
    const query = 'debounce=00:00:00.02&debounceMax=00:00:00.05&debounceData=list';
    const answers: Started[] = [];
    await Promise.all(
      Array.from({ length: 4 }, async (_, lane) => {
        for (let n = 0; n < 25; n += 1) {
          answers.push(await debounced(client, id, { n: lane * 100 + n }, query));
        }
      }),
    );
    const runs = new Set(answers.map(({ run }) => run.workflowId));
    const items: number[] = [];
    for (const run of runs) {
      const data = await ended(client, run);
      items.push(...(data['items'] as { n: number }[]).map(({ n }) => n));
    }
    expect(items).toHaveLength(100);
    expect(new Set(items).size).toBe(100);
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(runs.size);
  });

  it('begins at once with 1,000 collected starts, and the next one opens another window', async () => {
    const { client } = at;
    const id = await client.define(STEPS);
    const query = `${HOUR}&debounceData=list`;
    const ids: string[] = [];
    for (let round = 0; round < 21; round += 1) {
      const some = await Promise.all(
        Array.from({ length: 50 }, (_, n) => debounced(client, id, { n }, query)),
      );
      ids.push(...some.map(({ run }) => run.workflowId));
    }
    const [full, next] = [...new Set(ids)];
    expect(ids.filter((run) => run === full)).toHaveLength(1000);
    expect((await ended(client, full!))['items']).toHaveLength(1000);
    expect(await client.workflow(next!)).toMatchObject({ debounce: { starts: 50 } });
  });

  it('begins a new window rather than collect more than a run can carry', async () => {
    const { client } = at;
    const id = await client.define(STEPS);
    const query = `${HOUR}&debounceData=list`;
    const text = 'x'.repeat(240_000);
    const ids: string[] = [];
    for (let n = 0; n < 20; n += 1) {
      ids.push((await debounced(client, id, { n, text }, query)).run.workflowId);
    }
    const [full, next] = [...new Set(ids)];
    expect(new Set(ids).size).toBe(2);
    const collected = (await ended(client, full!))['items'] as unknown[];
    const { data } = await client.workflow(next!);
    expect(collected.length + (data as { items: unknown[] }).items.length).toBe(20);
  });

  it('goes on collecting while the run is suspended, and begins when it is resumed', async () => {
    const { client } = at;
    const id = await client.define(STEPS);
    const { run } = await debounced(client, id, { n: 1 }, HOUR);
    await client.control(run.workflowId, 'suspend');
    const joined = await debounced(client, id, { n: 2 }, NOW);
    expect(joined.run).toMatchObject({ workflowId: run.workflowId, status: 'Suspended' });
    const again = await debounced(client, id, { n: 3 }, NOW);
    expect(again.run.workflowId).toBe(run.workflowId);
    await client.control(run.workflowId, 'resume');
    expect(await ended(client, run.workflowId)).toMatchObject({ n: 3 });
  });

  it('closes the window when a modification lets the run begin', async () => {
    const { client } = at;
    const id = await client.define(STEPS);
    const { run } = await debounced(client, id, { n: 1 }, HOUR);
    const modify = { reason: 'now', cancel: ['*'], start: [{ stepId: 'second' }] };
    const modified = await client.post(`/api/workflow/${run.workflowId}/modify`, modify);
    expect(modified.status, modified.text).toBe(200);
    expect(await ended(client, run.workflowId)).toMatchObject({ n: 1 });
    expect((await debounced(client, id, { n: 2 }, HOUR)).status).toBe(201);

    const other = await client.define(STEPS);
    const { run: added } = await debounced(client, other, { n: 1 }, HOUR);
    const start = { reason: 'more', start: [{ stepId: 'second' }] };
    await client.post(`/api/workflow/${added.workflowId}/modify`, start);
    expect((await debounced(client, other, { n: 2 }, HOUR)).status).toBe(201);
  });

  it('takes a changed time and data after a restart of the server', async () => {
    const id = await at.client.define(STEPS);
    const list = `${HOUR}&debounceData=list`;
    const { run } = await debounced(at.client, id, { n: 1 }, list);
    await debounced(at.client, id, { n: 2 }, list);
    await at.restart();
    const joined = await debounced(at.client, id, { n: 3 }, list);
    expect(joined.run.workflowId).toBe(run.workflowId);
    await at.restart();
    await debounced(at.client, id, { n: 4 }, NOW);
    const data = await ended(at.client, run.workflowId);
    expect(data['items']).toEqual([1, 2, 3, 4].map((n) => ({ n })));
  });

  it('explains until when it collects, and how many it has', async () => {
    const { client } = at;
    const id = await client.define(STEPS);
    const { run } = await debounced(client, id, {}, `${HOUR}&debounceKey=c7`);
    const { run: joined } = await debounced(client, id, {}, `${HOUR}&debounceKey=c7`);
    const { body } = await client.get<Explanation>(`/api/workflow/${run.workflowId}/explain`);
    const { latest, until } = joined.debounce!;
    expect(body.reasons).toMatchObject([{ kind: 'debounce', until, stepId: null }]);
    expect(body.summary).toContain(`collects further starts with the key 'c7' until ${until!}`);
    expect(body.summary).toContain(`to ${latest} at the latest; 2 starts so far`);
  });

  it('waits for the end of the run that it has joined', async () => {
    const { client } = at;
    const id = await client.define(STEPS);
    const { run } = await debounced(client, id, { n: 1 }, HOUR);
    const joined = await debounced(client, id, { n: 2 }, `${NOW}&wait=30`);
    expect(joined).toMatchObject({
      status: 200,
      run: { workflowId: run.workflowId, status: 'Complete', data: { n: 2 } },
    });
  });
});

everyStore('debounced starts and other rules', (at) => {
  it('joins a window before it looks at the reference and at places', async () => {
    const { client } = at;
    const id = await client.define({
      Reference: 'data.name',
      OnConflict: 'fail',
      Concurrency: { Limit: 1, Key: 'data.name', OnFull: 'Reject' },
      Steps: [step('wait', 'WaitFor', { EventName: '"go"', EventKey: 'context.Workflow.Id' })],
    });
    const one = await debounced(client, id, { name: 'a' }, HOUR);
    expect(one.run.reference).toBe('a');
    const two = await debounced(client, id, { name: ['not', 'a', 'name'] }, HOUR);
    expect(two).toMatchObject({ status: 200, run: { workflowId: one.run.workflowId } });
    await debounced(client, id, { name: 'a' }, NOW);
    await client.untilStep(
      one.run.workflowId,
      'wait',
      ({ waitsFor }) => waitsFor?.kind === 'event',
    );
    const inUse = await start(client, id, { name: 'a' }, HOUR);
    expect([inUse.status, inUse.body.code]).toEqual([409, 'reference_in_use']);
    const failing = await start(client, id, { name: ['x'] }, HOUR);
    expect([failing.status, failing.body.code]).toEqual([400, 'expression_failed']);
  });

  it('queues at its time instead of being refused, also with Reject', async () => {
    const { client } = at;
    const id = await client.define({
      Concurrency: { Limit: 1, OnFull: 'Reject' },
      Steps: [step('wait', 'WaitFor', { EventName: '"go"', EventKey: 'context.Workflow.Id' })],
    });
    const holder = await client.start(id);
    const { run, status } = await debounced(client, id, { n: 1 }, HOUR);
    expect([status, run.queued]).toEqual([201, false]);
    await debounced(client, id, { n: 2 }, NOW);
    await client.untilWorkflow(run.workflowId, ({ queued }) => queued);
    const next = await debounced(client, id, { n: 3 }, HOUR);
    expect(next.status).toBe(201);
    await client.terminate(holder);
    await client.untilStep(run.workflowId, 'wait', ({ waitsFor }) => waitsFor?.kind === 'event');
    expect(await client.workflow(run.workflowId)).toMatchObject({ data: { n: 2 } });
  });

  it('waits at its time for the runs with its reference', async () => {
    const { client } = at;
    const id = await client.define([
      step('wait', 'WaitFor', { EventName: '"go"', EventKey: 'context.Workflow.Id' }),
    ]);
    const holder = await client.start(id, {}, 'r');
    const query = 'reference=r&onConflict=queue';
    const { run } = await debounced(client, id, { n: 1 }, `${HOUR}&${query}`);
    await debounced(client, id, { n: 2 }, `${NOW}&${query}`);
    await client.untilWorkflow(run.workflowId, ({ queued }) => queued);
    await client.terminate(holder);
    await client.untilStep(run.workflowId, 'wait', ({ waitsFor }) => waitsFor?.kind === 'event');
  });

  it('refuses a disabled definition', async () => {
    const { client } = at;
    const id = await client.define(STEPS);
    await debounced(client, id, {}, HOUR);
    await client.call('PUT', `/api/definition/${id}/disable`);
    const refused = await start(client, id, {}, HOUR);
    expect([refused.status, refused.body.code]).toEqual([409, 'definition_disabled']);
  });

  it.each([
    ['debounceKey=k', 'debounceKey'],
    ['debounceMax=5', 'debounceMax'],
    ['debounceData=list', 'debounceData'],
    ['debounce=5&delay=5', 'debounce'],
    ['debounce=5&startAt=2030-01-01T00:00:00Z', 'debounce'],
    ['debounce=-5s', 'debounce'],
    ['debounce=-00:00:05', 'debounce'],
    ['debounce=-5', 'debounce'],
    ['debounce=soon', 'debounce'],
    ['debounce=', 'debounce'],
    ['debounce=5&debounceMax=-1s', 'debounceMax'],
    ['debounce=5&debounceData=all', 'debounceData'],
    [`debounce=5&debounceKey=${'k'.repeat(257)}`, 'debounceKey'],
  ])('refuses %s with 400', async (query, parameter) => {
    const id = await at.client.define(STEPS);
    const { body, status } = await start(at.client, id, {}, query);
    expect(status).toBe(400);
    expect(JSON.stringify(body)).toContain(parameter);
  });

  it('takes a key of 256 characters, and a period of 0 starts at once', async () => {
    const { client } = at;
    const id = await client.define(STEPS);
    const key = `debounceKey=${'k'.repeat(256)}`;
    const { run } = await debounced(client, id, { n: 1 }, `debounce=0&debounceData=list&${key}`);
    expect(await ended(client, run.workflowId)).toMatchObject({ items: [{ n: 1 }] });
    const again = await debounced(client, id, { n: 2 }, `debounce=0&${key}`);
    expect(again.status).toBe(201);
  });
});
