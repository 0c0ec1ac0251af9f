/** Modifications and reruns, sentence by sentence of docs/repair.md; repair-matrix.test.ts has the combinations. */
import { expect, it } from 'vitest';
import type { JsonObject } from '../../src/engine/values/json.js';
import { fresh, type Answer } from './support/client.js';
import { CAMEL_JSON } from './support/dialects.js';
import { everyStore } from './support/every-store.js';
import { activity, chain, compute, mark, step } from './support/steps.js';

const waitFor = (Id: string, rest: JsonObject = {}): JsonObject =>
  step(Id, 'WaitFor', { EventName: '"never"', EventKey: `"${Id}"` }, rest);
const box = (Id: string, Do: JsonObject[][], rest: JsonObject = {}): JsonObject =>
  step(Id, 'Parallel', {}, { Do, ...rest });

everyStore(
  'a modification',
  (at) => {
    const modify = (id: string, body: JsonObject): Promise<Answer<JsonObject>> =>
      at.client.post(`/api/workflow/${id}/modify`, { reason: 'a test', ...body });
    const modified = async (id: string, body: JsonObject): Promise<JsonObject> => {
      const answer = await modify(id, body);
      expect(answer.status, answer.text).toBe(200);
      return answer.body;
    };
    const obstacles = async (id: string, body: JsonObject): Promise<unknown> => {
      const answer = await modify(id, body);
      expect(answer.status, answer.text).toBe(409);
      expect(answer.body['code']).toBe('modification_impossible');
      return answer.body['errors'];
    };

    it('merges its patch into the data: objects are merged, lists replaced, null removes', async () => {
      const { client } = at;
      const data = { keep: 1, deep: { x: 1, y: [1, 2] }, gone: 3 };
      const id = await client.defineAndStart([waitFor('w')], data);
      await client.untilWaiting(id, 'w');
      await modified(id, { data: { deep: { y: [9] }, gone: null, add: { z: null, n: 1 } } });
      const expected = { keep: 1, deep: { x: 1, y: [9] }, add: { n: 1 } };
      expect((await client.workflow(id)).data).toEqual(expected);
    });

    it('requires a change: empty members count as absent', async () => {
      const id = await at.client.defineAndStart([waitFor('w')]);
      const answer = await modify(id, { data: {}, cancel: [], start: [], resume: false });
      expect(answer.status, answer.text).toBe(400);
    });

    it('cancels everything inside an execution, and compensates nothing', async () => {
      const { client } = at;
      const undone = mark('a', { CompensateWith: [mark('-a')] });
      const saga = step('saga', 'Sequence', {}, { Saga: true, Do: [chain(undone, waitFor('w'))] });
      const id = await client.defineAndStart(chain(saga, mark('after')));
      await client.untilWaiting(id, 'w');
      const answer = await modified(id, { cancel: [1], start: [{ stepId: 'after' }] });
      expect(answer['cancelled']).toMatchObject(
        expect.arrayContaining([
          { executionId: 1, stepId: 'saga' },
          { executionId: 3, stepId: 'w' },
        ]),
      );
      expect((await client.ended(id)).data).toEqual({ trail: ['a', 'after'] });
    });

    it('terminates the child of a canceled SubWorkflow step', async () => {
      const { client } = at;
      const child = await client.define([waitFor('w')]);
      const id = await client.defineAndStart([
        step('sub', 'SubWorkflow', { DefinitionId: `"${child}"` }),
      ]);
      const { childWorkflowId } = await client.untilWaiting(id, 'sub');
      await client.untilWaiting(childWorkflowId!, 'w');
      await modified(id, { cancel: ['*'] });
      expect((await client.ended(id)).outcome).toBe('Succeeded');
      expect((await client.ended(childWorkflowId!)).outcome).toBe('Terminated');
    });

    it('makes the token of a canceled activity stale', async () => {
      const { client } = at;
      const name = fresh('work');
      const id = await client.defineAndStart([activity('act', name)]);
      const { token } = await client.work(name);
      await modified(id, { cancel: ['*'], start: [{ stepId: 'act' }] });
      expect((await client.post(`/api/activity/success/${token}`, 'old')).status).toBe(404);
      await client.succeed((await client.work(name)).token, 'new');
      expect((await client.ended(id)).data).toEqual({ result: 'new' });
    });

    it('lists the executions in which a step can be started, if there are several', async () => {
      const { client } = at;
      const inner = box('inner', [chain(waitFor('w'), mark('b'))]);
      const each = step('each', 'Foreach', { Collection: '[1, 2]' }, { Do: [[inner]] });
      const id = await client.defineAndStart([each]);
      await client.untilStep(id, 'w', ({ status }) => status === 'Waiting');
      await expect
        .poll(async () => (await client.trace(id)).filter((line) => line === 'w Waiting').length)
        .toBe(2);
      const steps = await client.steps(id);
      const ids = steps.filter(({ stepId }) => stepId === 'inner').map((each) => each.executionId);
      expect(await obstacles(id, { start: [{ stepId: 'b' }] })).toMatchObject([
        { code: 'ambiguous_container', executionIds: ids.sort((a, b) => a - b) },
      ]);
      expect(await obstacles(id, { start: [{ stepId: 'b', inside: 1 }] })).toMatchObject([
        { code: 'wrong_container', pointer: '/start/0/inside' },
      ]);
      await modified(id, { start: [{ stepId: 'b', inside: ids[1]! }] });
      await client.untilWorkflow(id, ({ data }) => JSON.stringify(data) === '{"trail":["b"]}');
    });

    it('moves an open step only to one of the same type, in the same containers', async () => {
      const { client } = at;
      const id = await client.defineAndStart([waitFor('w')]);
      await client.untilWaiting(id, 'w');
      const { definitionId: Id } = await client.workflow(id);
      await client.postDefinition({ Id, Steps: [step('w', 'Delay', { Period: 1 })] });
      await client.postDefinition({ Id, Steps: [box('box', [[waitFor('w')]])] });
      expect(await obstacles(id, { version: 2 })).toMatchObject([{ code: 'step_type_differs' }]);
      expect(await obstacles(id, { version: 3 })).toMatchObject([{ code: 'container_differs' }]);
      expect(await obstacles(id, { version: 9 })).toMatchObject([{ code: 'unknown_version' }]);
      expect((await client.workflow(id)).version).toBe(1);
    });

    it("warns of data that doesn't fit the Input, and of compensations that it ends or loses", async () => {
      const { client } = at;
      const stuck = mark('a', { CompensateWith: [waitFor('undo')] });
      const undone = mark('first', { CompensateWith: [mark('-first')] });
      const Steps = chain(undone, stuck, waitFor('w'));
      const Input = { type: 'object', properties: { n: { type: 'number' } } };
      const id = await client.defineAndStart({ Input, Steps }, { n: 1 });
      const { definitionId: Id } = await client.workflow(id);
      await client.untilWaiting(id, 'w');
      await client.postDefinition({ Id, Steps: chain(mark('first'), mark('a'), waitFor('w')) });
      const invalid = await modified(id, { data: { n: 'text' }, dryRun: true });
      expect(invalid['warnings']).toMatchObject([{ code: 'invalid_data' }]);
      const lost = await modified(id, { version: 2, dryRun: true });
      expect(lost['warnings']).toMatchObject([{ code: 'compensation_lost' }]);
      await client.call('DELETE', `/api/workflow/${id}?compensate=true`);
      await client.untilWaiting(id, 'undo');
      const stopped = await modified(id, { cancel: ['*'], start: [{ stepId: 'w' }] });
      expect(stopped['warnings']).toMatchObject([{ code: 'clean_up_stopped' }]);
      await client.publish('never', 'w', null);
      expect((await client.ended(id)).outcome).toBe('Succeeded');
    });

    it('reruns from a step at top level only', async () => {
      const { client } = at;
      const id = await client.defineAndStart([box('box', [[compute('in', { x: '1' })]])]);
      await client.ended(id);
      const path = `/api/workflow/${id}/rerun`;
      const refused = await client.post<JsonObject>(path, { reason: 'a test', from: 'in' });
      expect(refused.status, refused.text).toBe(409);
      const again = await client.post<JsonObject>(path, { reason: 'a test', data: { x: null } });
      expect(again.status, again.text).toBe(200);
      expect((await client.ended(id)).data).toEqual({ x: 1 });
      expect(await client.trace(id)).toHaveLength(4);
    });
  },
  { dialects: [CAMEL_JSON], stores: ['memory', 'sqlite'] },
);
