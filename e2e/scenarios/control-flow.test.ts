/** Steps that only run and decide, with a wait in the middle so that the checkpoint falls within their work. */
import { expect } from 'vitest';
import { assign, reached, run, waitFor } from '../environment/steps.js';
import { scenarios, type TestEnvironment } from '../environment/test-environment.js';

/** Runs the definition through its wait for the event `go`, with a checkpoint before it. */
async function runThroughWait(
  environment: TestEnvironment,
  ...[steps, options]: [Parameters<typeof run>[1], Parameters<typeof run>[2]?]
): Promise<Record<string, unknown>> {
  const handle = await run(environment, steps, options);
  await reached(handle, 'go');
  await environment.checkpoint();
  await environment.client.events.publish('go', handle.id, 'went');
  const workflow = await handle.wait({ timeoutMs: 30_000 });
  expect(workflow.status).toBe('Complete');
  return workflow.data;
}

const go = waitFor('go', 'go');

scenarios('control flow', {
  'runs steps in order, and expressions read earlier results': async (environment) => {
    const data = await runThroughWait(
      environment,
      [
        assign('a', { x: 'data.n + 1' }, { NextStepId: 'go' }),
        { ...go, NextStepId: 'b' },
        assign('b', { y: 'data.x * 2', z: 'data.y + 1' }),
      ],
      { data: { n: 1 } },
    );
    expect(data).toMatchObject({ x: 2, y: 4, z: 5 });
  },

  'follows every selected branch': async (environment) => {
    const data = await runThroughWait(
      environment,
      [
        { ...go, SelectNextStep: { one: 'data.n > 1', two: 'data.n > 2', three: 'data.n > 3' } },
        assign('one', { one: true }),
        assign('two', { two: true }),
        assign('three', { three: true }),
      ],
      { data: { n: 3 } },
    );
    expect(data).toEqual({ n: 3, go: 'went', one: true, two: true });
  },

  'runs a While with a wait in each iteration': async (environment) => {
    const handle = await run(
      environment,
      [
        {
          Id: 'loop',
          StepType: 'While',
          Inputs: { Condition: 'len(data.seen) < 3' },
          Do: [
            [
              waitFor('next', 'next', { NextStepId: 'add' }),
              assign('add', { seen: 'data.seen + [data.next]' }),
            ],
          ],
          NextStepId: 'after',
        },
        assign('after', { after: true }),
      ],
      { data: { seen: [] } },
    );
    for (const value of [1, 2, 3]) {
      await reached(handle, 'next');
      await environment.checkpoint();
      await environment.client.events.publish('next', handle.id, value);
    }
    const { data } = await handle.wait({ timeoutMs: 30_000 });
    expect(data).toMatchObject({ seen: [1, 2, 3], after: true });
  },

  'runs a Foreach in parallel and sequentially': async (environment) => {
    const each = (
      id: string,
      parallel: boolean,
      more: object,
    ): Record<string, unknown> & { Id: string; StepType: string } => ({
      Id: id,
      StepType: 'Foreach',
      Inputs: { Collection: 'data.items', RunParallel: parallel },
      Do: [[assign(`${id}-add`, { [id]: `data.${id} + [context.Item * 10 + context.Index]` })]],
      ...more,
    });
    const data = await runThroughWait(
      environment,
      [
        each('parallel', true, { NextStepId: 'go' }),
        { ...go, NextStepId: 'ordered' },
        each('ordered', false, {}),
      ],
      { data: { items: [1, 2, 3], parallel: [], ordered: [] } },
    );
    expect(data['ordered']).toEqual([10, 21, 32]);
    expect([...(data['parallel'] as number[])].sort()).toEqual([10, 21, 32]);
  },

  'joins branches once': async (environment) => {
    const data = await runThroughWait(
      environment,
      [
        {
          Id: 'both',
          StepType: 'Parallel',
          Do: [[go], [assign('left', { left: true })]],
          NextStepId: 'joined',
        },
        assign('joined', { joins: 'data.joins + 1' }),
      ],
      { data: { joins: 0 } },
    );
    expect(data).toMatchObject({ left: true, joins: 1 });
  },

  'waits for the given time and never fires early': async (environment) => {
    const handle = await run(environment, [
      { Id: 'pause', StepType: 'Delay', Inputs: { Period: '"PT1.5S"' }, NextStepId: 'after' },
      assign('after', { after: true }),
    ]);
    await reached(handle, 'pause');
    await environment.checkpoint();
    const workflow = await handle.wait({ timeoutMs: 30_000 });
    const lastedMs = Date.parse(workflow.endTime) - Date.parse(workflow.startTime);
    expect(workflow.data).toEqual({ after: true });
    expect(lastedMs).toBeGreaterThanOrEqual(1500);
  },

  'continues at once beside a Recur, which ends by its condition': async (environment) => {
    const data = await runThroughWait(
      environment,
      [
        {
          Id: 'again',
          StepType: 'Recur',
          Inputs: { Interval: 0.2, StopCondition: 'data.rounds >= 3' },
          Do: [[assign('round', { rounds: 'data.rounds + 1' })]],
          NextStepId: 'go',
        },
        go,
      ],
      { data: { rounds: 0 } },
    );
    expect(data).toMatchObject({ rounds: 3, go: 'went' });
  },

  'runs the latest script of a custom step': async (environment) => {
    const name = environment.unique('Double');
    await environment.client.steps.put(name, 'result = value * 2\n');
    const data = await runThroughWait(
      environment,
      [
        { ...go, NextStepId: 'double' },
        {
          Id: 'double',
          StepType: name,
          Inputs: { value: 'data.n' },
          Outputs: { doubled: 'step["result"]' },
        },
      ],
      { data: { n: 21 } },
    );
    expect(data).toMatchObject({ doubled: 42 });
  },

  'starts another workflow and waits for it': async (environment) => {
    const child = environment.unique('child');
    await environment.client.definitions.register(
      JSON.stringify({
        Id: child,
        Steps: [
          { Id: 'wait', StepType: 'Delay', Inputs: { Period: 0.3 }, NextStepId: 'done' },
          assign('done', { doubled: 'data.value * 2' }),
        ],
      }),
    );
    const data = await runThroughWait(
      environment,
      [
        { ...go, NextStepId: 'sub' },
        {
          Id: 'sub',
          StepType: 'SubWorkflow',
          Inputs: { DefinitionId: `"${child}"`, Data: { '@value': 'data.n' } },
          Outputs: { answer: 'step.Data.doubled', status: 'step.Status' },
        },
      ],
      { data: { n: 4 } },
    );
    expect(data).toMatchObject({ answer: 8, status: 'Complete' });
  },

  'keeps the version of open runs': async (environment) => {
    const id = environment.unique('versioned');
    const definition = (mark: string): string =>
      JSON.stringify({
        Id: id,
        Steps: [{ ...go, NextStepId: 'mark' }, assign('mark', { mark: `"${mark}"` })],
      });
    const { client } = environment;
    expect((await client.definitions.register(definition('old'))).version).toBe(1);
    const old = await client.workflows.start(id, {});
    await reached(old, 'go');
    expect((await client.definitions.register(definition('new'))).version).toBe(2);
    await environment.checkpoint();
    const fresh = await client.workflows.start(id, {});
    for (const handle of [old, fresh]) {
      await reached(handle, 'go');
      await client.events.publish('go', handle.id, null);
    }
    expect((await old.wait({ timeoutMs: 30_000 })).data).toMatchObject({ mark: 'old' });
    expect((await fresh.wait({ timeoutMs: 30_000 })).data).toMatchObject({ mark: 'new' });
  },
});
