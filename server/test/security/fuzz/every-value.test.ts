/**
 * S-53: every JSON type in every member of every body, and texts of all kinds in every parameter, as the OpenAPI document lists
 * them. No call is answered with 500, and no answer hides a failure that only the log shows. By day, a random part is sent to
 * one store; by night, everything to each.
 */
import { randomInt } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { IS_NIGHTLY } from '../../../../sdk/test/support/nightly.js';
import type { Client } from '../../behavior/support/client.js';
import { Client as Caller, fresh } from '../../behavior/support/client.js';
import { startServer, type TestServer } from '../../behavior/support/server.js';
import { activity, step } from '../../behavior/support/steps.js';
import { STORE_KINDS } from '../../behavior/support/stores.js';
import { bodyCases, parameterCases, type BodyCase, type ParameterCase } from './every-value.js';
import { Chance, isFailure } from './fuzz.js';

const SEED = Number(process.env['FUZZ_SEED'] ?? randomInt(2 ** 31));
const PART_BY_DAY = 20;
const AT_ONCE = 8;
const TIMEOUT_MS = 600_000;
/** It stays open. */
const STREAM = '/api/stream';
const DEFINITION = 'greeting';

/** What the paths of calls name, all of which exist. */
interface Subjects {
  readonly run: string;
  readonly token: string;
  readonly executionId: string;
}

describe.each(
  STORE_KINDS.filter(({ available, kind }) => available && (IS_NIGHTLY || kind === 'memory')),
)('a value of any type ($kind)', (kind) => {
  let server: TestServer;
  let client: Client;
  let subjects: Subjects;

  beforeAll(async () => {
    const store = await kind.create();
    server = await startServer({
      store: store.open(),
      environment: {
        WAIT_SECONDS_MAX: '1',
        POLL_TIMEOUT_SECONDS_MAX: '1',
        WRONG_TOKENS_PER_MINUTE_MAX: '1000000',
        WRONG_SIGNATURES_PER_MINUTE_MAX: '1000000',
      },
      keepsLine: isFailure,
    });
    client = new Caller(server.url);
    subjects = await prepare(client);
    return async () => {
      await server.stop();
      await store.remove();
    };
  });

  it(
    `is answered without a failure, in bodies (FUZZ_SEED=${SEED})`,
    async () => {
      await sendAll(bodyCases(), ({ method, path, body }) =>
        client.call(method, pathOf(path, subjects), { body, type: 'application/json' }),
      );
      expect(server.logLines).toEqual([]);
    },
    TIMEOUT_MS,
  );

  it(
    `is answered without a failure, in parameters (FUZZ_SEED=${SEED})`,
    async () => {
      const cases = parameterCases().filter(({ path }) => path !== STREAM);
      await sendAll(cases, (parameter) => sendParameter(client, parameter, subjects));
      expect(server.logLines).toEqual([]);
    },
    TIMEOUT_MS,
  );
});

async function sendAll<Case extends BodyCase | ParameterCase>(
  cases: readonly Case[],
  send: (one: Case) => Promise<{ status: number; text: string }>,
): Promise<void> {
  const chance = new Chance(SEED);
  const left = cases.filter(() => IS_NIGHTLY || chance.once(PART_BY_DAY));
  expect(left.length).toBeGreaterThan(100);
  const found: string[] = [];
  const worker = async (): Promise<void> => {
    for (let one = left.pop(); one !== undefined; one = left.pop()) {
      const { status, text } = await send(one);
      if (status < 200 || (status >= 500 && status !== 503)) {
        found.push(`${JSON.stringify(one).slice(0, 1000)}\n=> ${status} ${text.slice(0, 500)}`);
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  expect(found).toEqual([]);
}

function sendParameter(
  client: Client,
  { method, name, path, place, value }: ParameterCase,
  subjects: Subjects,
): ReturnType<Client['call']> {
  const text = encodeURIComponent(value);
  const body =
    method === 'GET' || method === 'DELETE' ? {} : { body: '{}', type: 'application/json' };
  if (place === 'path') {
    return client.call(method, pathOf(path.replace(`{${name}}`, text), subjects), body);
  }
  const sent = pathOf(path, subjects);
  if (place === 'query') return client.call(method, `${sent}?${name}=${text}`, body);
  // A client cannot send other characters in a header.
  const headers = { [name]: value.replaceAll(/[^\u0020-\u007e]/g, '?').trim() };
  return client.call(method, sent, { ...body, headers });
}

function pathOf(path: string, { executionId, run, token }: Subjects): string {
  const isRun = path.startsWith('/api/workflow/') && path !== '/api/workflow/{id}';
  return path
    .replace('{token}', token)
    .replace('{executionId}', executionId)
    .replace('{id}', isRun ? run : DEFINITION)
    .replace(/\{\w+\}/g, DEFINITION);
}

/** A definition, a run that waits for work and an event, a script, a webhook and a notification, all with one name. */
async function prepare(client: Client): Promise<Subjects> {
  const queue = fresh('queue');
  const waits = step('wait', 'WaitFor', {
    EventName: `"${DEFINITION}"`,
    EventKey: `"${DEFINITION}"`,
  });
  const both = step('both', 'Parallel', {}, { Do: [[activity('work', queue)], [waits]] });
  const Triggers = [{ Name: DEFINITION, Cron: '0 2 * * *' }];
  await client.postDefinition({ Id: DEFINITION, Steps: [both], Triggers, Index: { a: 'data.a' } });
  const secret = 'a long random text';
  const start = { definitionId: DEFINITION };
  const put = async (path: string, body: object): Promise<void> => {
    const answer = await client.call('PUT', path, {
      body: JSON.stringify(body),
      type: 'application/json',
    });
    expect(answer.status, answer.text).toBeLessThan(300);
  };
  await put(`/api/webhook/${DEFINITION}`, { scheme: 'github', secret, start });
  const run = await client.start(DEFINITION, { a: 1 }, 'r');
  await client.untilWaiting(run, 'work');
  const { token, executionId } = await client.work(queue, '&lease=3600');
  return { run, token, executionId: String(executionId) };
}
