/** SubWorkflow. */
import { expect, it } from 'vitest';
import { fresh, type Client } from './support/client.js';
import { eventually } from '../../../sdk/test/support/eventually.js';
import { everyStore } from './support/every-store.js';
import type { JsonObject } from '../../src/engine/values/json.js';
import { chain, compute, failing, mark, step } from './support/steps.js';

const OUTPUTS = { child: 'step.WorkflowId', childStatus: 'step.Status', childData: 'step.Data' };

everyStore('SubWorkflow', (at) => {
  it('starts another run, waits for its end and gets its data', async () => {
    const { client } = at;
    const child = await client.define(
      chain(step('wait', 'Delay', { Period: 0.05 }), compute('double', { twice: 'data.n * 2' })),
    );
    const { data } = await client.run(
      chain(
        step(
          'sub',
          'SubWorkflow',
          { DefinitionId: `"${child}"`, Data: { '@n': 'data.n', note: 'data.n' } },
          { Outputs: OUTPUTS },
        ),
        mark('after'),
      ),
      { n: 4 },
    );
    expect(data).toMatchObject({
      childStatus: 'Complete',
      childData: { n: 4, note: 'data.n', twice: 8 },
      trail: ['after'],
    });
    expect(await client.workflow(String(data['child']))).toMatchObject({
      definitionId: child,
      status: 'Complete',
      data: { twice: 8 },
    });
  });

  it('continues at once with Wait false', async () => {
    const { client } = at;
    const child = await client.define([step('wait', 'Delay', { Period: 3600 })]);
    const { data } = await client.run([
      step('sub', 'SubWorkflow', { DefinitionId: `"${child}"`, Wait: false }, { Outputs: OUTPUTS }),
    ]);
    expect(data).toMatchObject({ childStatus: 'Runnable' });
    const childId = String(data['child']);
    expect(await client.workflow(childId)).toMatchObject({
      definitionId: child,
      status: 'Runnable',
      data: {},
    });
    await client.terminate(childId);
  });

  it('fails when its child is terminated, unless AcceptOutcome allows that', async () => {
    const { client } = at;
    const child = await client.define([step('wait', 'Delay', { Period: 3600 })]);
    const starts = (inputs: JsonObject) =>
      step(
        'sub',
        'SubWorkflow',
        { DefinitionId: `"${child}"`, ...inputs },
        { Outputs: { ...OUTPUTS, how: 'step.Outcome' }, ErrorBehavior: 'Terminate' },
      );
    const refusing = await client.defineAndStart([starts({})]);
    const childId = await childOf(client, refusing);
    await client.terminate(childId);
    expect(await client.ended(refusing)).toMatchObject({
      outcome: 'Failed',
      lastError: {
        type: 'ChildFailed',
        message: `run ${childId} ended with the outcome Terminated`,
        data: { workflowId: childId, outcome: 'Terminated', error: null },
      },
    });
    expect(await client.steps(refusing)).toMatchObject([{ childWorkflowId: childId }]);
    const accepting = await client.defineAndStart([starts({ AcceptOutcome: ['Terminated'] })]);
    await client.terminate(await childOf(client, accepting));
    expect((await client.ended(accepting)).data).toMatchObject({
      childStatus: 'Terminated',
      how: 'Terminated',
    });
  });

  it('fails with the error of its child, and the completed steps are compensated', async () => {
    const { client } = at;
    const child = await client.define([failing('bad', { ErrorBehavior: 'Terminate' })]);
    const inside = chain(
      mark('pay', { CompensateWith: [mark('refund')] }),
      step('sub', 'SubWorkflow', { DefinitionId: `"${child}"` }),
    );
    const ended = await client.run([step('saga', 'Sequence', {}, { Saga: true, Do: [inside] })]);
    expect(ended).toMatchObject({ outcome: 'Compensated', data: { trail: ['pay', 'refund'] } });
    expect(ended.lastError?.message).toMatch(/ended with the outcome Failed: step bad failed: /);
  });

  it('gives its child its own reference', async () => {
    const { client } = at;
    const child = await client.define([mark('a')]);
    const reference = fresh('child-of');
    const starts = (inputs: JsonObject) =>
      step('sub', 'SubWorkflow', { DefinitionId: `"${child}"`, ...inputs }, { Outputs: OUTPUTS });
    for (const [inputs, expected] of [
      [{}, null],
      [{ Reference: `"${reference}"` }, reference],
    ] as const) {
      const { data } = await client.run([starts(inputs)]);
      expect(await client.workflow(String(data['child']))).toMatchObject({ reference: expected });
    }
  });

  it('terminates its child if its run is terminated during the wait', async () => {
    const { client } = at;
    const child = await client.define([step('wait', 'Delay', { Period: 3600 })]);
    const id = await client.defineAndStart([
      step('sub', 'SubWorkflow', { DefinitionId: `"${child}"` }),
    ]);
    const childId = await childOf(client, id);
    await client.terminate(id);
    expect(await client.ended(childId)).toMatchObject({
      status: 'Terminated',
    });
  });

  it('links the child to the step that started it, and back', async () => {
    const { client } = at;
    const child = await client.define([step('wait', 'Delay', { Period: 3600 })]);
    const id = await client.defineAndStart([
      step('sub', 'SubWorkflow', { DefinitionId: `"${child}"` }, { ErrorBehavior: 'Terminate' }),
    ]);
    const childId = await childOf(client, id);
    const [{ executionId } = { executionId: -1 }] = await client.steps(id);
    const parent = { workflowId: id, executionId, stepId: 'sub' };
    expect(await client.workflow(childId)).toMatchObject({ parent });
    expect(await client.workflow(id)).toMatchObject({ parent: null });
    expect(await client.steps(id)).toMatchObject([{ childWorkflowId: childId }]);
    await client.terminate(childId);
    await client.ended(id);
    expect(await client.steps(id)).toMatchObject([{ status: 'Failed', childWorkflowId: childId }]);
    expect(await client.steps(childId)).toMatchObject([{ childWorkflowId: null }]);
  });

  it('records the reason for the termination of a descendant', async () => {
    const { client } = at;
    const child = await client.define([step('wait', 'Delay', { Period: 3600 })]);
    const middle = await client.define([
      step('sub', 'SubWorkflow', { DefinitionId: `"${child}"` }),
    ]);
    const top = await client.defineAndStart([
      step('sub', 'SubWorkflow', { DefinitionId: `"${middle}"` }),
    ]);
    const middleId = await childOf(client, top);
    const leafId = await childOf(client, middleId);
    await client.terminate(top);
    await client.ended(leafId);
    const entry = (parent: string) => ({
      action: 'terminate',
      actor: 'anonymous',
      detail: `with its parent ${parent}`,
    });
    expect(await actionsOf(client, middleId)).toMatchObject([entry(top)]);
    expect(await actionsOf(client, leafId)).toMatchObject([entry(middleId)]);
    const { body } = await client.get<{ summary: string }>(`/api/workflow/${leafId}/explain`);
    expect(body.summary).toContain(`terminated by an operator (with its parent ${middleId})`);
  });

  it('records with the child that its parent canceled the step', async () => {
    const { client } = at;
    const child = await client.define([step('wait', 'Delay', { Period: 3600 })]);
    const id = await client.defineAndStart(
      [
        step(
          'both',
          'Parallel',
          {},
          {
            Do: [
              [
                step(
                  'sub',
                  'SubWorkflow',
                  { DefinitionId: `"${child}"` },
                  { CancelCondition: 'data.get("stop", False)' },
                ),
              ],
              [
                step(
                  'stop',
                  'WaitFor',
                  { EventName: '"stop"', EventKey: 'data.key' },
                  { Outputs: { stop: 'True' } },
                ),
              ],
            ],
          },
        ),
      ],
      { key: child },
    );
    const childId = await childOf(client, id);
    await client.publish('stop', child, null);
    await client.ended(childId);
    expect(await actionsOf(client, childId)).toMatchObject([
      { action: 'terminate', actor: `workflow ${id}`, detail: `its parent ${id} stopped waiting` },
    ]);
  });

  it('supports nesting, and several children at once', async () => {
    const { client } = at;
    const leaf = await client.define([compute('a', { square: 'data.n ** 2' })]);
    const middle = await client.define([
      step(
        'sub',
        'SubWorkflow',
        { DefinitionId: `"${leaf}"`, Data: 'data' },
        { Outputs: { square: 'step.Data.square' } },
      ),
    ]);
    const { data } = await client.run([
      step(
        'each',
        'Foreach',
        { Collection: '[1, 2, 3]' },
        {
          Do: [
            [
              step(
                'sub',
                'SubWorkflow',
                { DefinitionId: `"${middle}"`, Data: { '@n': 'context.Item' } },
                {
                  Outputs: { sum: 'data.get("sum", 0) + step.Data["square"]' },
                },
              ),
            ],
          ],
        },
      ),
    ]);
    expect(data).toEqual({ sum: 14 });
  });

  it('fails if the definition does not exist', async () => {
    const { client } = at;
    const id = await client.defineAndStart({
      DefaultErrorBehavior: 'Suspend',
      Steps: [step('sub', 'SubWorkflow', { DefinitionId: `"${fresh('nothing')}"` })],
    });
    const { lastError } = await client.untilWorkflow(id, ({ status }) => status === 'Suspended');
    expect(lastError).toMatchObject({ stepId: 'sub', type: 'SubWorkflowFailed' });
    expect(lastError!.message).toMatch(/nothing/);
  });

  it("waits while the child is suspended, and continues when it's resumed and has ended", async () => {
    const { client } = at;
    const child = await client.define({
      DefaultErrorBehavior: 'Suspend',
      Steps: [compute('f', { v: '1 if context.Step.Attempt > 1 else data.missing' })],
    });
    const id = await client.defineAndStart([
      step('sub', 'SubWorkflow', { DefinitionId: `"${child}"` }, { Outputs: OUTPUTS }),
    ]);
    const childId = await childOf(client, id);
    await client.untilWorkflow(childId, ({ status }) => status === 'Suspended');
    expect(await client.workflow(id)).toMatchObject({ status: 'Runnable' });
    await client.control(childId, 'resume');
    expect((await client.ended(id)).data).toMatchObject({
      childStatus: 'Complete',
      childData: { v: 1 },
    });
  });
});

async function actionsOf(client: Client, id: string): Promise<readonly unknown[]> {
  return (await client.get<{ items: unknown[] }>(`/api/workflow/${id}/audit`)).body.items;
}

/** The instance that the step `sub` is waiting for. Its id is known a moment before it is started. */
async function childOf(client: Client, id: string): Promise<string> {
  const waiting = await client.untilWaiting(id, 'sub');
  expect(waiting.waitsFor).toMatchObject({ kind: 'workflow' });
  const childId = waiting.waitsFor!.workflowId!;
  await eventually('the child has started', async () => {
    const { status } = await client.get(`/api/workflow/${childId}`);
    return status === 200;
  });
  return childId;
}
