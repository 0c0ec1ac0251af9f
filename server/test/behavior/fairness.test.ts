/** The fairness of runs: which key and weight they have, by every door and on every store. The order: fair-order.test.ts. */
import { expect, it } from 'vitest';
import type { ActivityItemPage } from '../../src/api/wire/models/activity.js';
import type { Workflow, WorkflowPage } from '../../src/api/wire/models/workflow.js';
import type { Json, JsonObject } from '../../src/engine/values/json.js';
import { eventually } from '../../../sdk/test/support/eventually.js';
import { fresh, type Client } from './support/client.js';
import { deliver, runsOf, start, webhook, type Started } from './support/doors.js';
import { everyStore } from './support/every-store.js';
import { activity, step } from './support/steps.js';

const WAITING = [step('wait', 'Delay', { Period: 3600 })];

const define = (client: Client, fairness: JsonObject): Promise<string> =>
  client.define({ Fairness: fairness, Steps: WAITING });

type Shown = readonly [key: string | null, weight: number | null];
const shown = ({ fairnessKey, fairnessWeight }: Workflow | Started): Shown => [
  fairnessKey,
  fairnessWeight,
];

async function started(client: Client, id: string, data = {}, query = ''): Promise<Started> {
  const { body, status, text } = await start(client, id, data, query);
  expect(status, text).toBe(201);
  expect(shown(await client.workflow(body.workflowId))).toEqual(shown(body));
  return body;
}

everyStore('fairness of runs', (at) => {
  it('is that of the start, of the definition, or none', async () => {
    const { client } = at;
    const plain = await client.define(WAITING);
    const fair = await define(client, { Key: 'data.tenant', Weight: 'data.get("weight")' });
    const own = { tenant: 'acme', weight: 2.5 };
    for (const [id, data, query, expected] of [
      [plain, {}, '', [null, null]],
      [plain, {}, 'fairnessKey=k', ['k', 1]],
      [plain, {}, 'fairnessKey=k&fairnessWeight=0.01', ['k', 0.01]],
      [fair, own, '', ['acme', 2.5]],
      [fair, { tenant: 'acme' }, '', ['acme', 1]],
      [fair, own, 'fairnessKey=k', ['k', 2.5]],
      [fair, own, 'fairnessWeight=100', ['acme', 100]],
      [fair, {}, 'fairnessKey=k', ['k', 1]],
      [fair, own, 'fairnessKey=', [null, null]],
      [fair, { tenant: null }, '', [null, null]],
      [fair, { tenant: '' }, '', [null, null]],
      [fair, { tenant: 7 }, '', ['7', 1]],
      [fair, { tenant: true }, '', ['True', 1]],
      [fair, { tenant: 'k'.repeat(256) }, '', ['k'.repeat(256), 1]],
    ] as const) {
      expect(shown(await started(client, id, data, query)), query).toEqual(expected);
    }
    const { body } = await client.get<WorkflowPage>(`/api/workflow?definitionId=${plain}`);
    expect(body.items.map((run) => run.fairnessKey).toSorted()).toEqual(['k', 'k', null]);
  });

  it('refuses a start whose key or weight has no value', async () => {
    const { client } = at;
    const id = await define(client, { Key: 'data.tenant', Weight: 'data.get("weight")' });
    const failing: readonly (readonly [JsonObject, string])[] = [
      [{}, "The Key of Fairness 'data.tenant' of definition"],
      [{ tenant: ['a'] }, 'expected a string, but got a list of 1 item'],
      [{ tenant: 'k'.repeat(257) }, 'has 257 characters; at most 256'],
      [{ tenant: 'a', weight: 0 }, 'The Weight of Fairness \'data.get("weight")\''],
      [{ tenant: 'a', weight: 100.5 }, 'expected a number from 0.01 to 100, but got 100.5'],
      [{ tenant: 'a', weight: '2' }, 'but got the string "2"'],
      [{ tenant: 'a', weight: '' }, 'but got an empty string'],
      [{ tenant: 'a', weight: true }, 'but got true'],
    ];
    for (const [data, problem] of failing) {
      const { body, status, text } = await start(client, id, data);
      expect([status, body.code], text).toEqual([400, 'expression_failed']);
      expect(body.detail).toContain(problem);
    }
    expect(await runsOf(client, id)).toEqual([]);
    await started(client, id, {}, 'fairnessKey=k&fairnessWeight=2');
  });

  it('refuses parameters that are out of range', async () => {
    const { client } = at;
    const plain = await client.define(WAITING);
    for (const [query, parameter] of [
      [`fairnessKey=${'k'.repeat(257)}`, 'fairnessKey'],
      ['fairnessKey=..', 'fairnessKey'],
      ['fairnessKey=a%00b', 'fairnessKey'],
      ['fairnessKey=k&fairnessWeight=0', 'fairnessWeight'],
      ['fairnessKey=k&fairnessWeight=100.1', 'fairnessWeight'],
      ['fairnessKey=k&fairnessWeight=much', 'fairnessWeight'],
      ['fairnessWeight=2', 'fairnessWeight'],
      ['fairnessKey=&fairnessWeight=2', 'fairnessWeight'],
    ] as const) {
      const { body, status, text } = await start(client, plain, {}, query);
      expect([status, body.code], text).toEqual([400, 'invalid_request']);
      expect(text).toContain(parameter);
    }
    const fair = await define(client, { Key: 'data.get("tenant")' });
    const { status, text } = await start(client, fair, {}, 'fairnessWeight=2');
    expect(status).toBe(400);
    expect(text).toContain('needs a fairness key');
  });

  it('refuses definitions whose constants no start could use', async () => {
    const { client } = at;
    const bad: readonly Json[] = ['data.t', {}, { Key: ['a'] }, { Key: 'data.t', Weight: 101 }];
    for (const Fairness of bad) {
      const answer = await client.postDefinition({ Id: fresh('d'), Fairness, Steps: WAITING });
      expect(answer.status, answer.text).toBe(400);
      expect(answer.text.toLowerCase()).toContain('fairness');
    }
  });

  it('applies to runs that webhooks and triggers start', async () => {
    const { client } = at;
    const id = await client.define({
      Fairness: { Key: 'data.tenant', Weight: 3 },
      Steps: WAITING,
      Triggers: [{ Name: 'main', Cron: '@yearly', Data: { '@tenant': 'context.Trigger.Name' } }],
    });
    const hook = await webhook(client, { definitionId: id });
    await deliver(client, hook, { tenant: 'w' });
    const refused = await deliver(client, hook, {});
    expect([refused.status, refused.body.code]).toEqual([400, 'expression_failed']);
    const fired = await client.call('POST', `/api/definition/${id}/triggers/main/fire`);
    expect(fired.status, fired.text).toBe(201);
    const keys = (await runsOf(client, id)).map(shown).toSorted();
    expect(keys).toEqual([
      ['main', 3],
      ['w', 3],
    ]);
  });

  it('is inherited by a child without a Fairness of its own', async () => {
    const { client } = at;
    const plain = await client.define(WAITING);
    const fair = await define(client, { Key: 'data.get("t")', Weight: 2 });
    const Foreach = { Collection: '[0, 1, 2]', RunParallel: 'True' };
    const parent = await client.define([
      step('each', 'Foreach', Foreach, {
        Do: [
          [
            step('child', 'SubWorkflow', {
              DefinitionId: `"${plain}" if context.Item == 0 else "${fair}"`,
              Data: { '@t': '"own" if context.Item == 1 else None' },
            }),
          ],
        ],
      }),
    ]);
    const { workflowId } = await started(client, parent, {}, 'fairnessKey=p&fairnessWeight=5');
    const children = async () =>
      (await client.get<WorkflowPage>(`/api/workflow?parent=${workflowId}`)).body.items;
    const found = await eventually('three children', async () => {
      const items = await children();
      return items.length === 3 && items;
    });
    const keys = found.map((run) => [run.definitionId, run.fairnessKey]);
    expect(keys.toSorted()).toEqual(
      [
        [plain, 'p'],
        [fair, 'own'],
        [fair, null],
      ].toSorted(),
    );
  });

  it('is kept by a restart, whatever the definition says then', async () => {
    const { client } = at;
    const id = await define(client, { Key: 'data.tenant' });
    const { workflowId } = await started(client, id, {}, 'fairnessKey=k&fairnessWeight=4');
    const none = await started(client, id, { tenant: 'x' }, 'fairnessKey=');
    for (const [run, expected] of [
      [workflowId, ['k', 4]],
      [none.workflowId, [null, null]],
    ] as const) {
      const path = `/api/workflow/${run}/restart`;
      const { body, text } = await client.post<Workflow>(path, { reason: 'again' });
      expect(shown(body), text).toEqual(expected);
      expect(shown(await client.workflow(body.workflowId))).toEqual(expected);
    }
  });

  it('is the first one in the answer to a repeated start', async () => {
    const { client } = at;
    const id = await define(client, { Key: 'data.tenant' });
    const headers = { 'idempotency-key': fresh('key') };
    const again = () => client.post<Started>(`/api/workflow/${id}`, { tenant: 'a' }, headers);
    const first = await again();
    await client.postDefinition({ Id: id, Fairness: { Key: 'data.other' }, Steps: WAITING });
    const second = await again();
    expect([first.status, second.status], second.text).toEqual([201, 201]);
    expect(second.body.workflowId).toBe(first.body.workflowId);
    expect(shown(second.body)).toEqual(['a', 1]);
  });

  it('shows the key of a work item in the queue of its activity', async () => {
    const { client } = at;
    const name = fresh('work');
    const id = await client.define([activity('ask', name)]);
    for (const query of ['fairnessKey=%C3%BCber%20alles', '']) {
      const { workflowId } = await started(client, id, {}, query);
      await client.untilWaiting(workflowId, 'ask');
    }
    const { body } = await client.get<ActivityItemPage>(`/api/activity/${name}/queue`);
    expect(body.items.map(({ fairnessKey }) => fairnessKey)).toEqual(['über alles', null]);
  });
});
