/**
 * Goal: a repair is never lost, never lost to, and never half applied, whatever happens to the run at the same moment.
 * Method: two nodes on one store. Each round lets one change race with a modification; after both were answered, the run must
 * be one that some order of the two explains. The suite is 200 rounds on each store.
 */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RepairedWorkflow } from '../../src/api/wire/models/repair.js';
import type { Problem } from '../../src/api/wire/models/problem.js';
import type { Workflow } from '../../src/api/wire/models/workflow.js';
import type { JsonObject } from '../../src/engine/values/json.js';
import { Client, fresh, type Answer } from './support/client.js';
import { chain, compute, step } from './support/steps.js';
import { mongoForTests } from '../support/mongo-container.js';
import { postgresForTests } from '../support/postgres-container.js';
import { SpawnedServer } from '../support/spawned-server.js';
import { openTestSchema } from '../store/support/postgres-schema.js';

/** Batches of rounds, each of which begins when the one before has ended. */
const BATCHES = 2;
/** Few enough for the time limit of calls to the database, also on a busy machine. */
const ROUNDS_AT_ONCE = 20;

type Repaired = Answer<RepairedWorkflow & Problem>;

interface Shared {
  readonly environment: Readonly<Record<string, string>>;
  remove(): Promise<void>;
}

const mongo = await mongoForTests();
const postgres = await postgresForTests();

const STORES: readonly {
  readonly kind: string;
  readonly isAvailable: boolean;
  readonly open: () => Promise<Shared>;
}[] = [
  {
    kind: 'sqlite',
    isAvailable: true,
    async open() {
      const folder = await mkdtemp(path.join(tmpdir(), 'stepwright-races-'));
      const remove = () => rm(folder, { recursive: true, force: true });
      return { environment: { DATA_DIR: folder }, remove };
    },
  },
  {
    kind: 'mongo',
    isAvailable: mongo !== null,
    async open() {
      const url = new URL(mongo?.url ?? '');
      url.pathname = `/races-${randomUUID()}`;
      const client = new MongoClient(url.href);
      const remove = async (): Promise<void> => {
        await client.db().dropDatabase();
        await client.close();
      };
      return Promise.resolve({ environment: { dbhost: url.href }, remove });
    },
  },
  {
    kind: 'postgres',
    isAvailable: postgres !== null,
    async open() {
      const schema = await openTestSchema(postgres?.url ?? '');
      return { environment: { dbhost: schema.url }, remove: () => schema.drop() };
    },
  },
];

for (const { isAvailable, kind, open } of STORES) {
  describe.skipIf(!isAvailable)(`a repair on one of two nodes (${kind})`, () => {
    const servers: SpawnedServer[] = [];
    let shared: Shared;
    let nodes: readonly [Client, Client];

    beforeAll(async () => {
      shared = await open();
      const environment = { PORT: '0', python_spares: '0', ...shared.environment };
      const [one, other] = [
        await SpawnedServer.start(environment),
        await SpawnedServer.start(environment),
      ];
      servers.push(one, other);
      nodes = [new Client(one.url), new Client(other.url)];
    }, 60_000);
    afterAll(async () => {
      for (const server of servers) await server.kill();
      await shared.remove();
    });

    const send = (client: Client, id: string, body: JsonObject): Promise<Repaired> =>
      client.call('POST', `/api/workflow/${id}/modify`, {
        body: JSON.stringify(body),
        type: 'application/json',
      });
    /** The node that makes the change, and the one that gets the modification: every combination occurs. */
    const sidesOf = (round: number): readonly [Client, Client] => [
      nodes[round % 2]!,
      nodes[Math.floor(round / 2) % 2]!,
    ];
    const each = async (play: (round: number) => Promise<void>): Promise<void> => {
      for (let batch = 0; batch < BATCHES; batch += 1) {
        const first = batch * ROUNDS_AT_ONCE;
        await Promise.all(Array.from({ length: ROUNDS_AT_ONCE }, (_, at) => play(first + at)));
      }
    };

    it('precedes or follows a concurrent event, and neither is lost', async () => {
      const definition = await nodes[0].define([
        ...chain(
          step(
            'ask',
            'WaitFor',
            { EventName: '"answer"', EventKey: 'data.key' },
            { Outputs: { got: 'step.EventData' } },
          ),
          step('hold', 'WaitFor', { EventName: '"go"', EventKey: 'data.key' }),
        ),
        compute('extra', { extra: 'data.get("extra", 0) + 1' }),
      ]);
      await each(async (round) => {
        const [events, repairs] = sidesOf(round);
        const key = fresh('key');
        const run = await nodes[0].start(definition, { key });
        const { executionId } = await nodes[0].untilWaiting(run, 'ask');
        const [, modified] = await Promise.all([
          events.publish('answer', key, round),
          send(repairs, run, {
            reason: 'race',
            data: { mark: round },
            cancel: [executionId],
            start: [{ stepId: 'extra' }],
          }),
        ]);
        if (modified.status === 200) {
          const end = await nodes[1].ended(run);
          expect(end.data).toEqual({ key, mark: round, extra: 1 });
          expect(await nodes[1].trace(run)).toEqual(['ask Cancelled', 'extra Complete']);
        } else {
          expect(modified.status, modified.text).toBe(409);
          expect(modified.body.errors).toMatchObject([{ code: 'execution_ended' }]);
          await nodes[1].publish('go', key, null);
          expect((await nodes[1].ended(run)).data).toEqual({ key, got: round });
        }
      });
    }, 120_000);

    it('precedes or follows a concurrent activity result, and neither is lost', async () => {
      const name = fresh('work');
      const definition = await nodes[0].define([
        step(
          'ask',
          'Activity',
          { ActivityName: `"${name}"` },
          { Outputs: { got: 'step.Result' }, NextStepId: 'hold' },
        ),
        step('hold', 'WaitFor', { EventName: '"go"', EventKey: 'data.key' }),
        compute('extra', { extra: 'data.get("extra", 0) + 1' }),
      ]);
      await each(async (round) => {
        const [workers, repairs] = sidesOf(round);
        const key = fresh('key');
        const run = await nodes[0].start(definition, { key });
        const { executionId } = await nodes[0].untilWaiting(run, 'ask');
        const answer = (): Promise<Answer> =>
          workers.post(`/api/workflow/${run}/steps/${executionId}/success`, round);
        const [answered, modified] = await Promise.all([
          answer(),
          send(repairs, run, {
            reason: 'race',
            data: { mark: round },
            cancel: [executionId],
            start: [{ stepId: 'extra' }],
          }),
        ]);
        expect([202, 409], answered.text).toContain(answered.status);
        if (modified.status === 200) {
          const { data } = await nodes[1].ended(run);
          expect(data).toEqual({ key, mark: round, extra: 1 });
        } else {
          expect(modified.status, modified.text).toBe(409);
          expect(answered.status, answered.text).toBe(202);
          await nodes[1].publish('go', key, null);
          expect((await nodes[1].ended(run)).data).toEqual({ key, got: round });
        }
      });
    }, 120_000);

    it('takes effect between the commits of a run that never rests', async () => {
      const definition = await nodes[0].define([
        step(
          'loop',
          'While',
          { Condition: 'data.go' },
          {
            Do: [
              [
                ...chain(
                  compute('count', { n: 'data.n + 1' }),
                  step('pause', 'Delay', { Period: '0.002' }),
                ),
              ],
            ],
            NextStepId: 'after',
          },
        ),
        compute('after', { seen: 'data.mark' }),
      ]);
      await each(async (round) => {
        const [, repairs] = sidesOf(round);
        const run = await nodes[0].start(definition, { go: true, n: 0 });
        await nodes[0].untilWorkflow(run, ({ data }) => Number(data['n']) > 1);
        const modified = await send(repairs, run, {
          reason: 'race',
          data: { mark: round, go: false },
        });
        expect(modified.status, modified.text).toBe(200);
        expect((await nodes[1].ended(run)).data).toMatchObject({ mark: round, seen: round });
      });
    }, 120_000);

    it('takes effect together with a concurrent suspension', async () => {
      const definition = await nodes[0].define([
        step('ask', 'WaitFor', { EventName: '"answer"', EventKey: 'data.key' }),
        compute('extra', { extra: 'data.get("extra", 0) + 1' }),
      ]);
      await each(async (round) => {
        const [operator, repairs] = sidesOf(round);
        const key = fresh('key');
        const run = await nodes[0].start(definition, { key });
        await nodes[0].untilWaiting(run, 'ask');
        const [suspended, modified] = await Promise.all([
          operator.control(run, 'suspend'),
          send(repairs, run, {
            reason: 'race',
            data: { mark: round },
            cancel: ['*'],
            start: [{ stepId: 'extra' }],
            resume: round % 4 < 2,
          }),
        ]);
        expect(modified.status, modified.text).toBe(200);
        const status = await settledStatus(nodes[1], run);
        // Suspended too late, when the run had ended; before, and resumed by the modification; or after it.
        if (suspended.status === 200 && status === 'Suspended') {
          expect((await nodes[1].control(run, 'resume')).status).toBe(200);
        } else if (suspended.status === 200) {
          expect(round % 4 < 2, `round ${round}: the suspension was lost`).toBe(true);
        }
        expect((await nodes[1].ended(run)).data).toEqual({ key, mark: round, extra: 1 });
      });
    }, 120_000);

    it('takes effect before a concurrent termination, or reopens the run after it', async () => {
      const definition = await nodes[0].define([
        step('ask', 'WaitFor', { EventName: '"answer"', EventKey: 'data.key' }),
        compute('extra', { extra: 'data.get("extra", 0) + 1' }),
      ]);
      await each(async (round) => {
        const [operator, repairs] = sidesOf(round);
        const key = fresh('key');
        const run = await nodes[0].start(definition, { key });
        await nodes[0].untilWaiting(run, 'ask');
        const [, modified] = await Promise.all([
          operator.terminate(run),
          send(repairs, run, {
            reason: 'race',
            data: { mark: round },
            cancel: ['*'],
            start: [{ stepId: 'extra' }],
          }),
        ]);
        expect(modified.status, modified.text).toBe(200);
        const { data, status } = await nodes[1].ended(run);
        expect(data['mark']).toBe(round);
        // The step may have been running when the run was terminated. What it did is kept.
        const hasRun = (await nodes[1].steps(run)).some(
          (each) => each.stepId === 'extra' && each.status === 'Complete',
        );
        expect(data['extra'], status).toBe(hasRun ? 1 : undefined);
        if (status === 'Complete') expect(hasRun).toBe(true);
      });
    }, 120_000);
  });
}

/** Its status once it is suspended or has ended: the steps that a modification starts need no time. */
async function settledStatus(client: Client, id: string): Promise<Workflow['status']> {
  return (await client.untilWorkflow(id, ({ status }) => status !== 'Runnable')).status;
}
