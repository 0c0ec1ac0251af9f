/** What floods are about: much of everything that the operations of the API read. */
import { expect } from 'vitest';
import { eventually } from '../../../../sdk/test/support/eventually.js';
import type { JsonObject } from '../../../src/engine/values/json.js';
import type { TokenClient } from '../../behavior/support/token-client.js';
import { nameKeyOf } from '../../../src/base/ids.js';
import type { Store } from '../../../src/store/store.js';
import { eventOf, instanceOf, NO_SIDE } from '../../store/records.js';
import {
  ENDING_OPERATIONS,
  FLOODED,
  HEARTBEAT,
  LONG_JSON,
  LONG_LENGTH,
  SECRET,
  type FloodSubjects,
} from './flood-calls.js';

/** How many there are of each subject. */
export interface FloodSizes {
  readonly searchedRuns: number;
  readonly openRuns: number;
  readonly largeEvents: number;
  readonly largeItems: number;
  /** Of one run. */
  readonly openSteps: number;
  readonly steps: number;
  /** For each operation that ends a work item. */
  readonly taken: number;
}

export const LARGE_SIZES: FloodSizes = {
  searchedRuns: 6000,
  openRuns: 200,
  largeEvents: 200,
  largeItems: 40,
  openSteps: 3000,
  steps: 600,
  taken: 100,
};

/** Made in a few seconds. */
export const SMALL_SIZES: FloodSizes = {
  searchedRuns: 500,
  openRuns: 100,
  largeEvents: 50,
  largeItems: 4,
  openSteps: 200,
  steps: 50,
  taken: 20,
};

const AT_ONCE = 8;
/** For busy machines. */
const PATIENCE_MS = 200_000;

const wait = (event: string): JsonObject => ({
  Id: 'wait',
  StepType: 'WaitFor',
  Inputs: { EventName: `'${event}'`, EventKey: "'k'" },
});
const work = (name: string): JsonObject => ({
  Id: 'work',
  StepType: 'Activity',
  Inputs: { ActivityName: `'${name}'`, Parameters: { '@text': 'data.get("text", "")' } },
});

const definitionsOf = ({ openSteps, steps }: FloodSizes): readonly JsonObject[] => [
  { Id: 'other', Steps: [work('other-work')] },
  {
    Id: FLOODED,
    Index: Object.fromEntries([1, 2, 3, 4, 5].map((n) => [`f${n}`, `data.f${n}`])),
    Steps: [wait('flood-event')],
  },
  { Id: 'flood-large', Steps: [work('flood-held')] },
  { Id: 'flood-worked', Steps: [work('flood-work')] },
  { Id: 'flood-taken', Steps: [work('flood-taken-work')] },
  { Id: 'flood-started', Steps: [wait('flood-none')] },
  { Id: 'flood-unused', Steps: [wait('flood-none')] },
  {
    Id: 'flood-wide',
    Steps: [
      {
        Id: 'each',
        StepType: 'Foreach',
        Inputs: { Collection: `list(range(${openSteps}))`, RunParallel: 'True' },
        Do: [[wait('flood-none')]],
      },
    ],
  },
  {
    Id: 'flood-looped',
    Steps: [
      {
        Id: 'each',
        StepType: 'Foreach',
        Inputs: { Collection: `list(range(${steps}))` },
        Do: [[{ Id: 'log', StepType: 'NoOp', Outputs: { last: '"x" * 1000' } }]],
      },
    ],
  },
  {
    Id: 'flood-triggered',
    Triggers: [{ Name: 'main', Cron: '0 3 1 1 *' }],
    Steps: [{ Id: 'a', StepType: 'NoOp' }],
  },
];

export async function prepareFlood(admin: TokenClient, sizes: FloodSizes): Promise<FloodSubjects> {
  for (const definition of definitionsOf(sizes)) {
    const { status, text } = await admin.postDefinition(definition);
    expect(status, text).toBe(201);
  }
  for (let at = 0; at < 10; at += 1) {
    const long = { Id: `flood-long-${at}`, Description: 'x'.repeat(LONG_LENGTH / 4) };
    await admin.postDefinition({ ...long, Steps: [{ Id: 'a', StepType: 'NoOp' }] });
  }
  const runs = await several(sizes.openRuns, (at) =>
    admin.start(FLOODED, Object.fromEntries([1, 2, 3, 4, 5].map((n) => [`f${n}`, at]))),
  );
  const text = 'x'.repeat(LONG_LENGTH);
  const large = await admin.start('flood-large', { text });
  const taken = await takenItems(admin, sizes.taken);
  const wide = await admin.start('flood-wide', {});
  const ended = await admin.start('flood-looped', {});
  await several(sizes.largeItems, () => admin.start('flood-worked', { text }), 2);
  await eventually(
    'the steps are open',
    async () => {
      const { body } = await admin.get<{ moreReasons: number }>(`/api/workflow/${wide}/explain`);
      return body.moreReasons > sizes.openSteps - 100;
    },
    PATIENCE_MS,
  );
  await eventually(
    'the loop has ended',
    async () => {
      const { body } = await admin.get<{ status: string }>(`/api/workflow/${ended}`);
      return body.status === 'Complete';
    },
    PATIENCE_MS,
  );
  const others = await recordsOf(admin, runs);
  const subjects = { large, wide, ended, event: 'flood-event-0' };
  return { ...subjects, ...others, runs, taken };
}

/** Work items that a worker holds. */
async function takenItems(admin: TokenClient, taken: number): Promise<FloodSubjects['taken']> {
  const items = await several(taken * ENDING_OPERATIONS.length + 1, async () => {
    const workflowId = await admin.start('flood-taken', {});
    const { executionId } = await admin.untilWaiting(workflowId, 'work');
    return { workflowId, executionId: String(executionId) };
  });
  const tokens = new Map<string, string>();
  await several(items.length, async () => {
    const path = '/api/activity/flood-taken-work?timeout=10&lease=7200';
    const { body } = await admin.get<{ token: string; workflowId: string }>(path);
    tokens.set(body.workflowId, body.token);
  });
  const withTokens = items.map((item) => ({ ...item, token: tokens.get(item.workflowId) ?? '' }));
  return Object.fromEntries(
    [...ENDING_OPERATIONS, HEARTBEAT].map((operation, at) => [
      operation,
      withTokens.slice(at * taken, (at + 1) * taken),
    ]),
  );
}

/** Ended runs and large events, without the time that it would take to run and to publish them. */
export async function fillStore(store: Store, sizes: FloodSizes): Promise<void> {
  await store.start();
  try {
    const ended = { status: 'Complete', outcome: 'Succeeded', endTime: 2000 } as const;
    const insertRun = async (at: number): Promise<void> => {
      const index = Object.fromEntries([1, 2, 3, 4, 5].map((n) => [`f${n}`, at]));
      const details = { ...ended, definitionId: FLOODED, startTime: 1000 + at, index };
      await store.insertInstance({ record: instanceOf(`flood-${at}`, details), side: NO_SIDE });
    };
    await several(sizes.searchedRuns, insertRun, 500);
    const insertEvent = async (at: number): Promise<void> => {
      const event = { name: 'flood-published', key: 'k', publishedAt: Date.now() };
      const details = { ...event, nameKey: nameKeyOf(event.name, event.key), data: LONG_JSON };
      await store.insertEvent(eventOf(`flood-event-${at}`, { ...details, deliveredTo: 0 }));
    };
    await several(sizes.largeEvents, insertEvent, 4);
  } finally {
    await store.stop();
  }
}

/** A bulk job with thousands of runs, a notification, a webhook, a step and API keys. */
async function recordsOf(
  admin: TokenClient,
  runs: readonly string[],
): Promise<Pick<FloodSubjects, 'bulkJob' | 'delivery'>> {
  const job = await admin.post<{ id: string }>('/api/bulk', {
    action: 'retry',
    workflowIds: runs,
    reason: 'a flood',
    perSecond: 1000,
  });
  expect(job.status, job.text).toBeLessThan(300);
  const put = async (path: string, body: JsonObject): Promise<void> => {
    const type = 'application/json';
    const answer = await admin.call('PUT', path, { body: JSON.stringify(body), type });
    expect(answer.status, answer.text).toBeLessThan(300);
  };
  await put('/api/notification/flood', {
    url: 'http://127.0.0.1:9/',
    on: ['completed'],
    secret: SECRET,
  });
  await put('/api/webhook/flood', {
    scheme: 'github',
    secret: SECRET,
    publish: { name: "'flood'", key: 'hook.body["a"]' },
  });
  await put('/api/limit/flood', { concurrency: 5 });
  for (let at = 0; at < 10; at += 1) {
    const body = `# ${'x'.repeat(200_000)}\na = 1\n`;
    await admin.call('POST', `/api/step/flood${at}`, { body, type: 'text/x-python' });
  }
  await admin.post('/api/notification/flood/test', {});
  const { body } = await admin.get<{ items: readonly { id: string }[] }>(
    '/api/notification/flood/deliveries',
  );
  return { bulkJob: job.body.id, delivery: body.items[0]?.id ?? 'none' };
}

/** A few at a time. */
async function several<Result>(
  count: number,
  act: (at: number) => Promise<Result>,
  atOnce = AT_ONCE,
): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < count) {
      const at = next;
      next += 1;
      results[at] = await act(at);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  return results;
}
