/**
 * Goal: everything that shows a failure tells since when a step has been failing, not when it failed last.
 * Method: a whole server on each store whose clock the test moves.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Explanation } from '../../src/api/wire/models/explanation.js';
import type { WorkflowExport } from '../../src/api/wire/models/export.js';
import type { FailureGroups } from '../../src/api/wire/models/failure.js';
import type { StepExecutionPage } from '../../src/api/wire/models/step-execution.js';
import type { Workflow, WorkflowPage } from '../../src/api/wire/models/workflow.js';
import type { JsonObject } from '../../src/engine/values/json.js';
import { ManualClock } from '../runtime/support/manual-clock.js';
import { Client } from './support/client.js';
import { CAMEL_JSON } from './support/dialects.js';
import { startServer, type TestServer } from './support/server.js';
import { compute } from './support/steps.js';
import { STORE_KINDS, type TestStore } from './support/stores.js';

const INTERVAL_S = 40;
const INTERVAL_MS = INTERVAL_S * 1000;
/** 13 attempts in eight minutes. */
const ATTEMPTS = 13;
/** The message has the number of the attempt in it. */
const READ = { n: 'int(data["text"] + str(context.Step.Attempt))' };

describe.each(STORE_KINDS)('a run that fails in every retry ($kind)', ({ available, ...kind }) => {
  const clock = new ManualClock();
  let store: TestStore;
  let server: TestServer;
  let client: Client;

  const begin = async (): Promise<void> => {
    // The clock jumps further than a node may be silent.
    const environment = { NODE_LEASE_MS: '600000' };
    server = await startServer({ store: store.open(), clock, environment });
    client = new Client(server.url, CAMEL_JSON);
  };
  beforeAll(async () => {
    if (!available) return;
    store = await kind.create();
    await begin();
  });
  afterAll(async () => {
    if (!available) return;
    await server.stop();
    await store.remove();
  });

  const untilAttempt = (id: string, attempt: number): Promise<Workflow> =>
    client.untilWorkflow(id, ({ lastError }) => lastError?.attempt === attempt);
  const groupOf = async (definitionId: string) => {
    const query = `definitionId=${definitionId}`;
    const { body } = await client.get<FailureGroups>(`/api/workflow/failures?${query}`);
    expect(body.groups).toBe(1);
    return body.items[0]!;
  };
  const ago = (time: string | null): number => (clock.now() - Date.parse(time!)) / 1000;
  const startFailing = async (attempts: number): Promise<Workflow> => {
    const members = { ErrorBehavior: 'Retry', RetryInterval: INTERVAL_S };
    const definition = await client.define([compute('read', READ, members)]);
    const id = await client.start(definition, { text: 'x' });
    for (let attempt = 1; attempt < attempts; attempt += 1) {
      await untilAttempt(id, attempt);
      clock.advance(INTERVAL_MS);
    }
    return untilAttempt(id, attempts);
  };

  it.skipIf(!available)('shows the time of its first failure eight minutes later', async () => {
    const run = await startFailing(ATTEMPTS);
    const { definitionId, workflowId: id } = run;
    const expectTimes = async (seconds: number, last: number): Promise<void> => {
      const group = await groupOf(definitionId);
      expect([ago(group.firstTime), ago(group.lastTime)]).toEqual([seconds, last]);
      const shown = await client.workflow(id);
      const { items } = (
        await client.get<WorkflowPage>(`/api/workflow?definitionId=${definitionId}`)
      ).body;
      for (const { failingSince, failureTime } of [shown, ...items]) {
        expect([ago(failingSince), ago(failureTime)]).toEqual([seconds, last]);
      }
      expect([ago(shown.lastError!.since), ago(shown.lastError!.time)]).toEqual([seconds, last]);
    };
    await expectTimes(480, 0);
    const explain = async (): Promise<Explanation> =>
      (await client.get<Explanation>(`/api/workflow/${id}/explain`)).body;
    expect(await explain()).toMatchObject({
      summary: expect.stringMatching(/; failing for 8 min, 13 attempts$/) as string,
      reasons: [{ error: { since: run.failingSince } }],
    });
    const steps = (await client.get<StepExecutionPage>(`/api/workflow/${id}/steps?limit=100`)).body;
    const failed = steps.items.filter(({ status }) => status === 'Failed');
    expect(failed.map(({ error }) => ago(error!.since))).toEqual(new Array(ATTEMPTS).fill(480));
    expect(new Set(failed.map(({ error }) => error!.time)).size).toBe(ATTEMPTS);

    await server.stop();
    await begin();
    await expectTimes(480, 0);

    await client.terminate(id);
    await client.untilWorkflow(id, ({ endTime }) => endTime !== null);
    const exported = await client.get<WorkflowExport>(`/api/workflow/${id}/export`);
    const { failingSince, lastError } = exported.body.workflow;
    expect([ago(failingSince), ago(lastError!.since)]).toEqual([480, 480]);
  });

  it.skipIf(!available)('resets that time with another cause or a success', async () => {
    const { definitionId, workflowId: id } = await startFailing(3);
    expect(ago((await groupOf(definitionId)).firstTime)).toBe(80);
    const patch = async (data: JsonObject): Promise<void> => {
      const answer = await client.post(`/api/workflow/${id}/modify`, { reason: 'test', data });
      expect(answer.status, answer.text).toBe(200);
    };
    await patch({ text: null });
    clock.advance(INTERVAL_MS);
    const other = await untilAttempt(id, 4);
    expect(other.lastError?.type).toBe('KeyError');
    expect(other.failingSince).toBe(other.failureTime);
    expect(ago((await groupOf(definitionId)).firstTime)).toBe(0);
    await patch({ text: '1' });
    clock.advance(INTERVAL_MS);
    const ended = await client.untilWorkflow(id, ({ status }) => status === 'Complete');
    expect(ended).toMatchObject({ failingSince: null, failureTime: null, lastError: null });
  });

  it.skipIf(!available)("shows how long it failed once it's no longer retried", async () => {
    const members = { RetryInterval: INTERVAL_S, MaxRetries: 2, OnRetriesExhausted: 'Suspend' };
    const id = await client.defineAndStart([compute('read', READ, members)], { text: 'x' });
    for (const attempt of [1, 2]) {
      await untilAttempt(id, attempt);
      clock.advance(INTERVAL_MS);
    }
    await client.untilWorkflow(id, ({ status }) => status === 'Suspended');
    const { body } = await client.get<Explanation>(`/api/workflow/${id}/explain`);
    expect(body.summary).toMatch(/because step read failed: .*, after 3 attempts over 1 min$/);
  });
});
