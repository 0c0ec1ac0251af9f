/**
 * S-46 and S-47 on the built server: workflows with megabytes of data and tens of thousands of open steps, and clients
 * that request all of it. Other requests are served in the meantime, as a process beside the server measures.
 */
import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/engine/values/json.js';
import { startProcess, temporaryFolder } from '../behavior/support/server-process.js';
import type { SpawnedServer } from '../support/spawned-server.js';
import { expectLively, worstLiveLatency } from './support/live-latency.js';

async function start(): Promise<SpawnedServer> {
  return startProcess({ PORT: '0', DATA_DIR: await temporaryFolder() });
}

interface Answer {
  readonly status: number;
  readonly type: string | null;
  readonly text: string;
}

async function ask(url: string, accept = 'application/json'): Promise<Answer> {
  const response = await fetch(url, { headers: { accept } });
  const type = response.headers.get('content-type');
  return { status: response.status, type, text: await response.text() };
}

async function post(url: string, body: Json): Promise<JsonObject> {
  const response = await fetch(url, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
  });
  const text = await response.text();
  expect(response.status, text).toBeLessThan(300);
  return (text === '' ? {} : JSON.parse(text)) as JsonObject;
}

async function startWorkflow(
  url: string,
  definition: JsonObject & { readonly Id: string },
): Promise<string> {
  await post(`${url}/api/definition`, definition);
  const started = await post(`${url}/api/workflow/${definition.Id}`, {});
  return `${url}/api/workflow/${started['workflowId'] as string}`;
}

/** Waits until a step of this id is open. */
async function reach(workflow: string, stepId: string): Promise<void> {
  await expect
    .poll(
      async () => {
        const { text } = await ask(`${workflow}/steps?stepId=${stepId}&order=desc&limit=1`);
        return (JSON.parse(text) as { items: { status: string }[] }).items[0]?.status;
      },
      { timeout: 120_000, interval: 200 },
    )
    .toBe('Waiting');
}

function waitFor(event: string, next: string): JsonObject {
  const inputs = {
    EventName: `"${event}"`,
    EventKey: '"k"',
    EffectiveDate: '"2020-01-01T00:00:00Z"',
  };
  return { Id: event, StepType: 'WaitFor', Inputs: inputs, NextStepId: next };
}

const FIELDS = 8;

/**
 * More than for other attacks: the slices take 4 ms each, but the garbage collector moves what five such responses need while
 * they are written. One collection takes 40 to 150 ms of CPU time, and up to 360 ms where other processes use the core and its
 * caches. So the number of calls that were answered in the meantime shows better whether the responses are written in slices.
 */
const LARGEST_TURN_MS = 500;
/** With slices, 200 and more, however slow the machine; about 60 if each response is written in one turn. */
const CALLS_MEANWHILE_MIN = 100;

/** About ten megabytes with 1.6 million values, which are written again when an event arrives. */
const LARGE = {
  Id: 'large',
  Steps: [
    ...Array.from({ length: FIELDS }, (_, at) => ({
      Id: `grow${at}`,
      StepType: 'NoOp',
      Outputs: { [`list${at}`]: 'list(range(200000))' },
      NextStepId: at + 1 < FIELDS ? `grow${at + 1}` : 'first',
    })),
    waitFor('first', 'count'),
    { Id: 'count', StepType: 'NoOp', Outputs: { count: 'len(data.list0)' }, NextStepId: 'second' },
    { ...waitFor('second', ''), NextStepId: null },
  ],
} as unknown as JsonObject & { readonly Id: string };

describe('a response as large as a state may be (S-46)', () => {
  it(
    'is sent in YAML and JSON while other requests are served',
    { timeout: 300_000, retry: 2 },
    async () => {
      const { pid, url } = await start();
      const workflow = await startWorkflow(url, LARGE);
      await reach(workflow, 'first');
      const measured = await worstLiveLatency({ pid, url }, () =>
        Promise.all([
          ...Array.from({ length: 2 }, () => ask(workflow, 'application/yaml')),
          ask(workflow),
          ...Array.from({ length: 2 }, () => ask(`${workflow}/explain`)),
        ]),
      );
      expect(measured.answer.map(({ status }) => status)).toEqual(Array(5).fill(200));
      // Longer than the limit for YAML.
      expect(measured.answer[0]?.type).toBe('application/json; charset=utf-8');
      expect(measured.answer[0]?.text.length).toBeGreaterThan(10_000_000);
      expectLively(measured, 'responses of the maximum size', LARGEST_TURN_MS);
      expect(measured.calls).toBeGreaterThan(CALLS_MEANWHILE_MIN);
    },
  );

  it(
    'explains 20,000 open steps while other requests are served',
    { timeout: 300_000 },
    async () => {
      const { pid, url } = await start();
      const wait = { Id: 'rest', StepType: 'Delay', Inputs: { Period: '"PT1H"' } };
      const workflow = await startWorkflow(url, {
        Id: 'wide',
        Steps: [
          {
            Id: 'each',
            StepType: 'Foreach',
            Inputs: { Collection: 'list(range(20000))', RunParallel: 'True' },
            Do: [[wait]],
          },
        ],
      });
      const open = async (): Promise<number> => {
        const { moreReasons } = JSON.parse((await ask(`${workflow}/explain`)).text) as JsonObject;
        return Number(moreReasons);
      };
      await expect.poll(open, { timeout: 120_000, interval: 500 }).toBe(20_000 - 50);
      const measured = await worstLiveLatency({ pid, url }, () =>
        Promise.all(Array.from({ length: 20 }, () => ask(`${workflow}/explain`))),
      );
      expect(measured.answer.map(({ status }) => status)).toEqual(Array(20).fill(200));
      expectLively(measured);
    },
  );
});

describe('a state of the maximum size (S-47)', () => {
  it('is stored and read while other requests are served', { timeout: 300_000 }, async () => {
    const { pid, url } = await start();
    const measured = await worstLiveLatency({ pid, url }, async () => {
      const workflow = await startWorkflow(url, LARGE);
      await reach(workflow, 'first');
      await post(`${url}/api/event/first/k`, {});
      await reach(workflow, 'second');
      return ask(workflow);
    });
    const { data } = JSON.parse(measured.answer.text) as { data: JsonObject };
    expect(data['count']).toBe(200_000);
    expectLively(measured);
  });
});
