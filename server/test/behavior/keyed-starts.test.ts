/** Starts with an Idempotency-Key: the same start gets the first response again, any other one is refused. */
import { expect, it } from 'vitest';
import type { Workflow } from '../../src/api/wire/models/workflow.js';
import type { JsonObject } from '../../src/engine/values/json.js';
import { Client, fresh } from './support/client.js';
import { everyStore } from './support/every-store.js';
import { startServer } from './support/server.js';
import { step } from './support/steps.js';

const WAITING = [step('wait', 'Delay', { Period: 3600 })];

interface Sent {
  readonly data?: JsonObject;
  readonly key?: string;
}

function start(client: Client, id: string, query: string, { data = {}, key }: Sent = {}) {
  const headers = key === undefined ? {} : { 'idempotency-key': key };
  return client.post<Workflow>(`/api/workflow/${id}?${query}`, data, headers);
}

/** 503 says that the outcome is unknown; on a busy machine, the store may answer too late. A client repeats the request. */
async function startUntilStoreAnswers(
  client: Client,
  id: string,
  query: string,
  sent: Sent,
): ReturnType<typeof start> {
  for (;;) {
    const answer = await start(client, id, query, sent);
    if (answer.status !== 503) return answer;
  }
}

everyStore('starts with a key', (at) => {
  it('returns the first response again for the same key, whatever happened to the run', async () => {
    const { client } = at;
    const id = await client.define(WAITING);
    const [a, b, c] = [fresh('key'), fresh('key'), fresh('key')];
    const query = 'reference=r&onConflict=fail';
    const first = await start(client, id, query, { data: { n: 1 }, key: a });
    const again = await start(client, id, query, { data: { n: 1 }, key: a });
    expect([again.status, again.body]).toEqual([201, first.body]);
    // A refusal is not kept.
    expect((await start(client, id, query, { data: { n: 1 }, key: b })).status).toBe(409);
    const joining = 'reference=r&onConflict=existing';
    const joined = await start(client, id, joining, { key: c });
    expect([joined.status, joined.body.workflowId]).toEqual([200, first.body.workflowId]);
    await client.terminate(first.body.workflowId);
    expect((await start(client, id, query, { data: { n: 1 }, key: a })).body).toEqual(first.body);
    // Longer than a test may take: the run has ended, so there is nothing to wait for.
    const waiting = await start(client, id, `${query}&wait=300`, { data: { n: 1 }, key: a });
    expect(waiting.body).toMatchObject({ status: 'Terminated' });
    const joinedAgain = await start(client, id, joining, { key: c });
    expect([joinedAgain.status, joinedAgain.body.workflowId]).toEqual([200, first.body.workflowId]);
    expect((await start(client, id, joining, { data: { n: 2 }, key: c })).body).toMatchObject({
      code: 'idempotency_conflict',
    });
    for (const other of [query, 'reference=r&onConflict=terminate']) {
      expect((await start(client, id, other, { key: c })).body).toMatchObject({
        code: 'idempotency_conflict',
      });
    }
    expect((await start(client, id, query, { data: { n: 1 }, key: b })).status).toBe(201);
  });

  it('returns the response of a join again, and refuses its key for other requests', async () => {
    const { client } = at;
    const id = await client.define({ Steps: WAITING, Input: { required: ['n'] } });
    const key = fresh('key');
    const joining = 'reference=r&onConflict=existing';
    const first = await start(client, id, 'reference=r', { data: { n: 1 } });
    const path = `/api/workflow/${first.body.workflowId}`;
    const joined = await start(client, id, joining, { key });
    expect([joined.status, joined.body]).toEqual([
      200,
      await client.workflow(first.body.workflowId),
    ]);
    const changes = { body: '{"team": "b"}', type: 'application/json' };
    expect((await client.call('PATCH', `${path}/tags`, changes)).status).toBe(200);
    for (const change of ['suspend', 'resume', 'terminate']) {
      if (change === 'terminate') await client.terminate(first.body.workflowId);
      else await client.call('PUT', `${path}/${change}`);
      const again = await start(client, id, joining, { key });
      expect([again.status, again.body], change).toEqual([200, joined.body]);
    }
    // It waits for the end of that run, which has come.
    const waited = await start(client, id, `${joining}&wait=300`, { key });
    expect(waited.body).toMatchObject({ status: 'Terminated', tags: { team: 'b' } });
    for (const query of [
      '',
      'reference=r',
      'reference=r&onConflict=allow',
      'reference=r&onConflict=fail',
      'reference=r&onConflict=terminate',
      'reference=other&onConflict=existing',
      `${joining}&tag=a:b`,
      `${joining}&version=1`,
    ]) {
      for (const data of [{}, { n: 1 }]) {
        const other = await start(client, id, query, { key, data });
        const conflict = { status: 409, code: 'idempotency_conflict' };
        expect(other.body, query).toMatchObject(conflict);
      }
    }
    const listed = `/api/workflow?definitionId=${id}`;
    expect((await client.get<{ items: unknown[] }>(listed)).body.items).toHaveLength(1);
  });

  it('returns the first response again for the same key, even if the definition now refuses the request', async () => {
    const { client } = at;
    const Id = fresh('strict');
    const Tags = { team: 'a' };
    await client.postDefinition({
      Id,
      Steps: WAITING,
      Tags,
      Input: { properties: { m: { default: 1 } } },
    });
    const [a, b] = [fresh('key'), fresh('key')];
    const query = 'reference=r&tag=own:1';
    const first = await start(client, Id, query, { key: a });
    expect(first.body).toMatchObject({ data: { m: 1 }, tags: { team: 'a', own: '1' } });
    const joining = `${query}&onConflict=existing`;
    const joined = await start(client, Id, joining, { key: b });
    const patched = await client.call('PATCH', `/api/workflow/${first.body.workflowId}/tags`, {
      body: '{"team": "b"}',
      type: 'application/json',
    });
    expect(patched.status, patched.text).toBe(200);
    const manyTags = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`t${n}`, '']));
    for (const stricter of [{ Input: { required: ['n'] } }, { Tags: manyTags }]) {
      await client.postDefinition({ Id, Steps: WAITING, ...stricter });
      const again = await start(client, Id, query, { key: a });
      expect([again.status, again.body]).toEqual([201, first.body]);
      const joinedAgain = await start(client, Id, joining, { key: b });
      expect([joinedAgain.status, joinedAgain.body.workflowId]).toEqual([
        200,
        joined.body.workflowId,
      ]);
      const other = await start(client, Id, query, { data: { other: 1 }, key: a });
      expect(other.body).toMatchObject({ code: 'idempotency_conflict' });
      expect((await start(client, Id, query, { key: fresh('key') })).status).toBe(400);
    }
    await client.terminate(first.body.workflowId);
  });
});

const PAIRS = 50;

everyStore(
  'pairs of different first requests with one key',
  (at) => {
    /** What the two requests of a pair ask for, while runs with the references `r` and `s` are open. */
    const PAIRINGS = {
      'two runs': ['reference=r', 'reference=r'],
      'the open run': ['reference=r&onConflict=existing', 'reference=r&onConflict=existing'],
      'two open runs': ['reference=r&onConflict=existing', 'reference=s&onConflict=existing'],
      'an open run and a new one': ['reference=r&onConflict=existing', ''],
      'an open run and a new one with its own reference': [
        'reference=r&onConflict=existing',
        'reference=new&onConflict=terminate',
      ],
    } as const;

    const pairings = Object.keys(PAIRINGS) as (keyof typeof PAIRINGS)[];
    // On MongoDB, no operation spans two documents: a join and an insert at the same moment may both take effect.
    it.each(pairings.filter((name) => at.kind !== 'mongo' || !name.includes('new')))(
      'takes effect once on two nodes: %s',
      async (pairing) => {
        const other = await startServer({ store: at.store.open() });
        try {
          const clients = [at.client, new Client(other.url, at.client.dialect)];
          const id = await at.client.define(WAITING);
          for (const reference of ['r', 's']) await at.client.start(id, {}, reference);
          const pairs = await Promise.all(
            Array.from({ length: PAIRS }, () => {
              const key = fresh('pair');
              return Promise.all(
                PAIRINGS[pairing].map((query, n) =>
                  startUntilStoreAnswers(clients[n]!, id, query, { data: { n }, key }),
                ),
              );
            }),
          );
          for (const answers of pairs) {
            const refused = answers.filter(({ status }) => status === 409);
            const said = answers.map(({ text }) => text).join('\n');
            expect(refused, said).toHaveLength(1);
            expect(refused[0]!.body, said).toMatchObject({ code: 'idempotency_conflict' });
            expect(
              answers.some(({ status }) => status === 200 || status === 201),
              said,
            ).toBe(true);
          }
        } finally {
          await other.stop();
        }
      },
    );
  },
  { dialects: 'alternating' },
);
