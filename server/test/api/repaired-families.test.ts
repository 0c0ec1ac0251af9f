/**
 * Goal: a repair respects what is around the run: its children, its parent, its reference, and effects outside the server.
 * Method: real runs on the embedded store, through the API.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startRealServer, type RealServer } from './support/real-server.js';
import { fresh, runsOn, set, wait } from './support/repaired-runs.js';

let server: RealServer;
beforeAll(async () => {
  server = await startRealServer();
});
afterAll(() => server.stop());

const { define, ended, modify, rerun, start, steps, terminate, waiting } = runsOn(() => server);

/** A parent whose step `sub` runs the child; the child waits, or is done at once. */
async function family(childSteps: readonly object[]): Promise<{ parent: string; child: string }> {
  const childId = fresh('child');
  await define(childId, childSteps);
  const parentId = fresh('parent');
  await define(parentId, [
    {
      id: 'sub',
      stepType: 'SubWorkflow',
      inputs: { DefinitionId: `"${childId}"`, Data: 'data' },
      outputs: { child: 'step.Data' },
      nextStepId: 'hold',
    },
    wait('hold'),
    set('other', 'other'),
  ]);
  const parent = await start(parentId, { key: fresh('key') });
  const childOf = async (): Promise<string | null | undefined> =>
    (await steps(parent)).find(({ stepId }) => stepId === 'sub')?.childWorkflowId;
  await expect.poll(childOf).toEqual(expect.any(String));
  return { parent, child: (await childOf()) ?? '' };
}

it('terminates the child of a canceled SubWorkflow step', async () => {
  const { child, parent } = await family([wait('ask')]);
  await waiting(child, 'ask');
  const answer = await modify(parent, {
    reason: 'not needed',
    cancel: ['*'],
    start: [{ stepId: 'other' }],
  });
  expect(answer.status, answer.text).toBe(200);
  expect(await ended(child)).toMatchObject({ status: 'Terminated' });
  expect(await ended(parent)).toMatchObject({ status: 'Complete', data: { other: 1 } });
});

it('warns that a parent which has taken the result gets no second notification', async () => {
  const { child, parent } = await family([set('work', 'n')]);
  await waiting(parent, 'hold');
  const preview = await rerun(child, { reason: 'again', dryRun: true });
  const answer = await rerun(child, { reason: 'again' });
  for (const { body, status, text } of [preview, answer]) {
    expect(status, text).toBe(200);
    expect(body.warnings).toMatchObject([{ code: 'parent_not_told' }]);
    expect(body.warnings[0]?.message).toContain(parent);
  }
  expect(await ended(child)).toMatchObject({ status: 'Complete', data: { n: 2 } });
  expect((await waiting(parent, 'hold')).stepId).toBe('hold');
});

it('notifies a parent that still waits, without a warning', async () => {
  const { child, parent } = await family([wait('ask', 'work'), set('work', 'n')]);
  await waiting(child, 'ask');
  const answer = await modify(child, {
    reason: 'skip',
    cancel: ['*'],
    start: [{ stepId: 'work' }],
  });
  expect(answer.body.warnings).toEqual([]);
  await waiting(parent, 'hold');
  expect((await steps(parent))[0]).toMatchObject({ stepId: 'sub', status: 'Complete' });
});

it('names the outside calls that ran before and will run again', async () => {
  const name = fresh('calls');
  const call = (id: string, next?: string): object => ({
    id,
    stepType: 'Activity',
    inputs: { ActivityName: `"${id}"` },
    ...(next !== undefined && { nextStepId: next }),
  });
  await define(name, [
    set('first', 'a', 'ship'),
    call('ship', 'bill'),
    call('bill', 'mail'),
    call('mail'),
  ]);
  const run = await start(name);
  const { executionId } = await waiting(run, 'ship');
  await server.call(`POST /api/workflow/${run}/steps/${executionId}/success`, { json: null });
  await waiting(run, 'bill');
  const again = await modify(run, {
    reason: 'r',
    cancel: ['*'],
    start: [{ stepId: 'first' }],
    dryRun: true,
  });
  expect(again.body.repeats).toEqual([
    { stepId: 'ship', stepType: 'Activity' },
    { stepId: 'bill', stepType: 'Activity' },
  ]);
  const later = await modify(run, { reason: 'r', start: [{ stepId: 'mail' }], dryRun: true });
  expect(later.body.repeats).toEqual([]);
});

it('warns when it opens a run again while another one has its reference', async () => {
  const name = fresh('referred');
  await define(name, [wait('ask')]);
  const query = '?reference=order-7';
  const first = await start(name, { key: 'a' }, query);
  await terminate(first);
  const second = await start(name, { key: 'b' }, query);
  const patched = await modify(first, { reason: 'r', data: { x: 1 } });
  expect(patched.body.warnings).toEqual([]);
  const opened = await rerun(first, { reason: 'r' });
  expect(opened.status, opened.text).toBe(200);
  expect(opened.body.warnings).toMatchObject([{ code: 'reference_in_use' }]);
  expect(opened.body.warnings[0]?.message).toContain(second);
  await terminate(first);
  await terminate(second);
  expect((await rerun(first, { reason: 'r' })).body.warnings).toEqual([]);
});

it('warns of data that does not fit the Input', async () => {
  const name = fresh('typed');
  const input = { type: 'object', properties: { n: { type: 'number' } } };
  await define(name, [wait('ask')], { input });
  const run = await start(name, { key: 'k', n: 1 });
  await waiting(run, 'ask');
  const misfit = await modify(run, { reason: 'r', data: { n: 'one' } });
  expect(misfit.body.warnings).toMatchObject([{ code: 'invalid_data' }]);
  expect((await modify(run, { reason: 'r', data: { n: 2 } })).body.warnings).toEqual([]);
});

it('applies an event first that was accepted before the modification', async () => {
  const name = fresh('ordered');
  await define(name, [wait('ask', 'hold'), wait('hold'), set('other', 'other')]);
  for (let round = 0; round < 20; round += 1) {
    const key = fresh('key');
    const run = await start(name, { key });
    const { executionId } = await waiting(run, 'ask');
    await server.call(`POST /api/event/E-ask/${key}`, { json: round });
    const answer = await modify(run, { reason: 'r', cancel: [executionId], data: { x: 1 } });
    expect(answer.status, answer.text).toBe(409);
    expect(answer.body.errors).toMatchObject([{ code: 'execution_ended', pointer: '/cancel/0' }]);
  }
});

it('names the problem with the first step of a rerun', async () => {
  const name = fresh('nested');
  const inner = [[set('inner', 'x')]];
  await define(name, [{ id: 'all', stepType: 'If', inputs: { Condition: 'True' }, do: inner }]);
  const run = await start(name);
  await ended(run);
  const nested = await rerun(run, { reason: 'r', from: 'inner' });
  expect(nested.status, nested.text).toBe(409);
  expect(nested.body.errors).toMatchObject([{ code: 'container_not_open', pointer: '/from' }]);
  const unknown = await rerun(run, { reason: 'r', from: 'al' });
  expect(unknown.body.errors).toMatchObject([{ code: 'unknown_step', pointer: '/from' }]);
});
