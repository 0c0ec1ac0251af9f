/** Section 6: SubWorkflow. */
import { expect, it } from 'vitest';
import { fresh, type Client } from './support/client.js';
import { eventually } from './support/eventually.js';
import { everyStore } from './support/every-store.js';
import { chain, compute, mark, step } from './support/steps.js';

const OUTPUTS = { child: 'step.WorkflowId', childStatus: 'step.Status', childData: 'step.Data' };

everyStore('SubWorkflow', (at) => {
  it('starts another instance, waits for its end, and has its data', async () => {
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

  it('without Wait goes on at once', async () => {
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

  it('ends with the status of a terminated child', async () => {
    const { client } = at;
    const child = await client.define([step('wait', 'Delay', { Period: 3600 })]);
    const id = await client.defineAndStart([
      step('sub', 'SubWorkflow', { DefinitionId: `"${child}"` }, { Outputs: OUTPUTS }),
    ]);
    await client.terminate(await childOf(client, id));
    expect((await client.ended(id)).data).toMatchObject({ childStatus: 'Terminated' });
  });

  it('terminates the child it waits for when it is terminated itself', async () => {
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

  it('nests, and starts several at a time', async () => {
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

  it('fails when there is no such definition', async () => {
    const { client } = at;
    const id = await client.defineAndStart({
      DefaultErrorBehavior: 'Suspend',
      Steps: [step('sub', 'SubWorkflow', { DefinitionId: `"${fresh('nothing')}"` })],
    });
    const { lastError } = await client.untilWorkflow(id, ({ status }) => status === 'Suspended');
    expect(lastError).toMatchObject({ stepId: 'sub', type: 'SubWorkflowFailed' });
    expect(lastError!.message).toMatch(/nothing/);
  });

  it('waits while the child is suspended, and goes on when it is resumed and ends', async () => {
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

/** The instance that the step `sub` waits for. Its id is known a moment before it is started. */
async function childOf(client: Client, id: string): Promise<string> {
  const waiting = await client.untilWaiting(id, 'sub');
  expect(waiting!.waitsFor).toMatchObject({ kind: 'workflow' });
  const childId = waiting!.waitsFor!.workflowId!;
  await eventually(async () => {
    const { status, text } = await client.get(`/api/workflow/${childId}`);
    return { done: status === 200, value: text };
  });
  return childId;
}
