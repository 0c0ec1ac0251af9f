/**
 * S-43: callers who may control runs but not read them learn nothing of their data. Method: runs, events and work whose
 * data, errors and messages contain a word; then every operation of the OpenAPI document is called with each token
 * without the viewer scope, and no response may contain the word.
 */
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Workflow } from '../../src/api/wire/models/workflow.js';
import type { Client } from '../behavior/support/client.js';
import type { JsonObject } from '../../src/engine/values/json.js';
import { activity, step } from '../behavior/support/steps.js';
import { clientWith, TOKEN_ENVIRONMENT } from '../behavior/support/token-client.js';
import { serverForTests } from './support/secured-server.js';

const SECRET = 'iban-DE02-1203';

const WAITS = [activity('ask', 'charge', { Parameters: { account: 'data.account' } })];
const RETRIES = [
  step(
    'refuse',
    'Fail',
    { Type: '"CardRefused"', Message: '"refused " + data.account', Data: 'data' },
    { ErrorBehavior: 'Suspend' },
  ),
];
/** It fails at first, and waits for its next attempt: for `retry`. */
const RETRIES_LATER = [
  {
    ...step('read', 'NoOp', {}, { Outputs: { found: 'data[data.account]' } }),
    ErrorBehavior: 'Retry',
    RetryInterval: '01:00:00',
  },
];

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly body: string | null;
}

const OPENAPI = new URL('../../openapi/openapi.json', import.meta.url);
const { paths } = JSON.parse(readFileSync(OPENAPI, 'utf8')) as {
  paths: Record<string, Record<string, unknown>>;
};
const operations = Object.entries(paths).flatMap(([path, methods]) =>
  Object.keys(methods).map((method) => ({ method: method.toUpperCase(), path })),
);

/** Every operation, with this id in each id parameter. */
function requestsFor(id: string): readonly Sent[] {
  const action = JSON.stringify({ action: 'suspend', workflowIds: [id] });
  const bodies: Readonly<Record<string, string>> = { POST: '{}', PATCH: action };
  const own: Readonly<Record<string, string>> = {
    tags: JSON.stringify({ team: 'billing' }),
    priority: JSON.stringify({ priority: 1 }),
  };
  return operations.flatMap(({ method, path }) =>
    (path.includes('{executionId}') ? ['1', '2', '99'] : ['']).map((executionId) => ({
      method,
      path: path.replace('{executionId}', executionId).replaceAll(/\{\w+\}/g, id),
      body: own[path.split('/').at(-1) ?? ''] ?? bodies[method] ?? null,
    })),
  );
}

describe('a caller without the viewer scope', () => {
  const at = serverForTests(TOKEN_ENVIRONMENT);
  let admin: Client;

  beforeAll(async () => {
    admin = await clientWith(at.client.url, 'conductor:admin');
  });

  /** A run that waits for work, one that was suspended by a failure, one that waits for its next attempt. */
  const startAll = async () => {
    const data = { account: SECRET };
    // Index fields are copies of data.
    const indexed = (Steps: readonly JsonObject[]) => ({
      Steps: [...Steps],
      Index: { account: 'data.account' },
    });
    const waiting = await admin.defineAndStart(indexed(WAITS), data);
    await admin.untilWaiting(waiting, 'ask');
    const suspended = await admin.defineAndStart(indexed(RETRIES), data);
    await admin.untilWorkflow(suspended, ({ status }) => status === 'Suspended');
    const retrying = await admin.defineAndStart(RETRIES_LATER, data);
    await admin.untilStep(retrying, 'read', ({ error }) => error !== null);
    const ended = await admin.defineAndStart([step('a', 'NoOp')], data);
    await admin.ended(ended);
    return { waiting, suspended, retrying, ended };
  };

  it('gets the status but not the data from suspend, resume, retry and DELETE', async () => {
    const controller = await clientWith(at.client.url, 'conductor:controller');
    const reader = await clientWith(at.client.url, 'conductor:controller conductor:viewer');
    const { suspended, retrying, waiting } = await startAll();
    const CALLS = [
      ['PUT', `/api/workflow/${waiting}/suspend`, 'Suspended'],
      ['PUT', `/api/workflow/${waiting}/resume`, 'Runnable'],
      ['PUT', `/api/workflow/${retrying}/retry`, 'Runnable'],
      ['DELETE', `/api/workflow/${suspended}`, 'Terminated'],
      // An ended run does not change, and is returned.
      ['DELETE', `/api/workflow/${suspended}`, 'Terminated'],
    ] as const;
    for (const [method, path, status] of CALLS) {
      const answer = await controller.call<Workflow>(method, path);
      expect(answer.status, answer.text).toBe(200);
      expect(answer.body).toMatchObject({ status, version: 1, parent: null });
      expect(answer.body).not.toHaveProperty('data');
      expect(answer.body).not.toHaveProperty('lastError');
      expect(answer.body).not.toHaveProperty('index');
      expect(answer.text, path).not.toContain(SECRET);
    }
    const read = await reader.call<Workflow>('DELETE', `/api/workflow/${suspended}`);
    expect(read.body).toMatchObject({ data: { account: SECRET }, lastError: { stepId: 'refuse' } });
  });

  it('gets no data of runs or events from any operation that is allowed', async () => {
    const runs = await startAll();
    const event = await admin.publish('paid', SECRET.slice(0, 4), { account: SECRET });
    const answers: Record<string, number> = {};
    const ids = [...Object.values(runs), event.id, 'charge', 'unknown'];
    for (const scope of ['conductor:controller', 'conductor:author', 'conductor:none']) {
      const caller = await clientWith(at.client.url, scope);
      for (const { body, method, path } of ids.flatMap(requestsFor)) {
        const answer = await caller.call(method, path, {
          ...(body !== null && { body, type: 'application/json' }),
        });
        expect(answer.text, `${scope}: ${method} ${path}`).not.toContain(SECRET);
        const key = `${scope} ${answer.status}`;
        answers[key] = (answers[key] ?? 0) + 1;
      }
    }
    // The calls reached their targets.
    expect(answers['conductor:controller 200']).toBeGreaterThan(5);
    expect(answers['conductor:controller 202']).toBeGreaterThan(0);
    expect(answers['conductor:author 200']).toBeGreaterThan(0);
  });
});
