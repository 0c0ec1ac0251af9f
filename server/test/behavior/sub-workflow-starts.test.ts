/** SubWorkflow: Version, Reference, Tags and OnConflict. Custom steps: a pinned version. */
import { expect, it } from 'vitest';
import type { JsonObject } from '../../src/engine/values/json.js';
import { eventually } from '../../../sdk/test/support/eventually.js';
import { fresh } from './support/client.js';
import { everyStore } from './support/every-store.js';
import { chain, compute, mark, step } from './support/steps.js';

const OUTPUTS = { child: 'step.WorkflowId', outcome: 'step.Outcome', got: 'step.Data' };

function sub(inputs: JsonObject, rest: JsonObject = {}): JsonObject {
  return step('sub', 'SubWorkflow', inputs, {
    Outputs: OUTPUTS,
    ErrorBehavior: 'Terminate',
    ...rest,
  });
}

everyStore(
  'a SubWorkflow step',
  (at) => {
    it('starts the version that it names', async () => {
      const { client } = at;
      const Id = fresh('versions');
      for (const v of ['1', '2']) await client.postDefinition({ Id, Steps: [compute('v', { v })] });
      const named = await client.run([sub({ DefinitionId: `"${Id}"`, Version: 1 })]);
      expect(named.data).toMatchObject({ got: { v: 1 } });
      const unknown = await client.run([sub({ DefinitionId: `"${Id}"`, Version: 7 })]);
      expect(unknown.lastError).toMatchObject({
        type: 'SubWorkflowFailed',
        message: `There is no version 7 of definition '${Id}'`,
      });
      for (const wrong of [
        { Version: '"x"' },
        { OnConflict: '"fail"' },
        { Tags: { a: 1 } },
        { Tags: { '': 'x' } },
      ] as JsonObject[]) {
        const refused = await client.run([sub({ DefinitionId: `"${Id}"`, ...wrong })]);
        expect(refused.lastError, JSON.stringify(wrong)).toMatchObject({ type: 'InputError' });
      }
    });

    it('gives its child a reference and tags, which override those of the definition', async () => {
      const { client } = at;
      const Id = fresh('tagged');
      const Tags = { team: 'a', env: 'prod' };
      await client.postDefinition({ Id, Steps: [mark('a')], Tags });
      const inputs = {
        DefinitionId: `"${Id}"`,
        Reference: '"r"',
        Tags: { team: 'b', '@own': '"1"' },
      };
      const ended = await client.run([sub(inputs)]);
      expect(await client.workflow(String(ended.data['child']))).toMatchObject({
        reference: 'r',
        tags: { team: 'b', env: 'prod', own: '1' },
      });
    });

    it('joins the open run with its Reference, and leaves it open when it is terminated', async () => {
      const { client } = at;
      const key = fresh('key');
      const child = await client.define(
        chain(
          step(
            'wait',
            'WaitFor',
            { EventName: '"go"', EventKey: `"${key}"` },
            { Outputs: { said: 'step.EventData' } },
          ),
          mark('end'),
        ),
      );
      const open = await client.start(child, { n: 1 }, 'shared');
      const parent = await client.define(
        chain(
          sub({
            DefinitionId: `"${child}"`,
            Reference: '"shared"',
            OnConflict: '"Existing"',
          }),
          mark('after'),
        ),
      );
      const [left, stopped] = [await client.start(parent), await client.start(parent)];
      for (const id of [left, stopped]) {
        await eventually('the step has joined the open run', async () => {
          const [running] = await client.steps(id);
          return running?.status === 'Waiting' && running.childWorkflowId === open;
        });
      }
      await client.terminate(stopped);
      expect(await client.workflow(open)).toMatchObject({ status: 'Runnable' });
      await at.restart();
      await at.client.post(`/api/event/go/${key}`, 'yes');
      expect((await at.client.ended(left)).data).toMatchObject({
        child: open,
        outcome: 'Succeeded',
        got: { n: 1, said: 'yes' },
        trail: ['after'],
      });
      const [done] = await at.client.steps(left);
      expect(done).toMatchObject({ status: 'Complete', childWorkflowId: open });
      expect(await at.client.workflow(open)).toMatchObject({ status: 'Complete', parent: null });
    });

    it('fails or replaces when its Reference is in use', async () => {
      const { client } = at;
      const child = await client.define([step('wait', 'Delay', { Period: 3600 })]);
      const open = await client.start(child, {}, 'r');
      const by = (OnConflict: string, rest: JsonObject = {}) =>
        client.run([
          sub({
            DefinitionId: `"${child}"`,
            Reference: '"r"',
            OnConflict: `"${OnConflict}"`,
            ...rest,
          }),
        ]);
      expect((await by('fail')).lastError).toMatchObject({
        type: 'SubWorkflowFailed',
        message: expect.stringContaining(open) as unknown,
      });
      expect((await by('existing', { Wait: false })).data['child']).toBe(open);
      const replaced = await by('terminate', { Wait: false });
      expect(replaced.data['child']).not.toBe(open);
      expect(await client.workflow(open)).toMatchObject({ status: 'Terminated' });
      await client.terminate(String(replaced.data['child']));
    });

    it("doesn't wait for its own run", async () => {
      const { client } = at;
      const Id = fresh('self');
      const self = sub({
        DefinitionId: `"${Id}"`,
        Reference: '"me"',
        OnConflict: '"existing"',
      });
      await client.postDefinition({ Id, Steps: [self] });
      const ended = await client.ended(await client.start(Id, {}, 'me'));
      expect(ended.lastError).toMatchObject({ type: 'SubWorkflowFailed' });
    });
  },
  { dialects: 'alternating' },
);

everyStore(
  'a custom step with a version',
  (at) => {
    it('uses that version, and the latest without one', async () => {
      const { client } = at;
      const name = await client.script('v = 1');
      const use = (StepType: string) =>
        client.run([step('s', StepType, {}, { Outputs: { v: 'step.v' } })]);
      await client.call('POST', `/api/step/${name}`, { body: 'v = 2', type: 'text/x-python' });
      expect((await use(`${name}@1`)).data).toEqual({ v: 1 });
      expect((await use(name)).data).toEqual({ v: 2 });
      for (const wrong of [`${name}@3`, `${name}@0`, `${name}@`, 'EmitLog@1', 'nothing@1']) {
        const Id = fresh('wrong');
        const { body } = await client.postDefinition({ Id, Steps: [step('s', wrong)] });
        expect(body.errors, wrong).toMatchObject([{ code: 'unknown_step_type' }]);
      }
      const odd = { body: 'v = 1', type: 'text/x-python' };
      expect((await client.call('POST', '/api/step/odd@3', odd)).status).toBe(400);
    });
  },
  { dialects: 'alternating' },
);
