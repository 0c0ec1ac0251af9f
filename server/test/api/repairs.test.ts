/**
 * Goal: modify and rerun do what they say, whole or not at all.
 * Method: real runs on the embedded store, through the API.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startRealServer, type RealServer } from './support/real-server.js';
import { fresh, runsOn, set, wait, type Run } from './support/repaired-runs.js';

let server: RealServer;
beforeAll(async () => {
  server = await startRealServer();
});
afterAll(() => server.stop());

const { define, ended, modify, read, rerun, start, steps, suspend, terminate, waiting } = runsOn(
  () => server,
);

it('cancels a waiting step, changes the data and starts another step', async () => {
  const id = fresh('open');
  await define(id, [wait('ask', 'after'), set('after', 'a'), set('ship', 'shipped')]);
  const run = await start(id, { key: 'k', n: 4, error: 'x' });
  const { executionId } = await waiting(run, 'ask');
  const answer = await modify(run, {
    reason: 'carrier API was down',
    data: { carrier: 'B', error: null },
    cancel: ['*'],
    start: [{ stepId: 'ship' }],
  });
  expect(answer.status, answer.text).toBe(200);
  expect(answer.body).toMatchObject({
    cancelled: [{ executionId, stepId: 'ask' }],
    started: [{ stepId: 'ship' }],
    repeats: [],
    warnings: [],
  });
  const end = await ended(run);
  expect(end).toMatchObject({ status: 'Complete', outcome: 'Succeeded' });
  expect(end.data).toEqual({ key: 'k', n: 4, carrier: 'B', shipped: 5 });
  expect(
    (await steps(run)).map(({ reason, status, stepId }) => ({ stepId, status, reason })),
  ).toEqual([
    { stepId: 'ask', status: 'Cancelled', reason: 'carrier API was down' },
    { stepId: 'ship', status: 'Complete', reason: 'carrier API was down' },
  ]);
  const audit = await server.call<{ items: object[] }>(`GET /api/workflow/${run}/audit`);
  expect(audit.body.items).toMatchObject([
    {
      action: 'modify',
      actor: 'anonymous',
      detail: 'reason: carrier API was down; canceled ask; changed data; started ship',
    },
  ]);
});

it('shows the effects with dryRun, and changes nothing', async () => {
  const id = fresh('dry');
  await define(id, [wait('ask'), set('ship', 'shipped')]);
  const run = await start(id, { key: 'k' });
  await waiting(run, 'ask');
  const before = await read(run);
  const request = { reason: 'r', data: { x: 1 }, cancel: ['*'], start: [{ stepId: 'ship' }] };
  const answer = await modify(run, { ...request, dryRun: true });
  expect(answer.status, answer.text).toBe(200);
  expect(answer.body.workflow).toMatchObject({ status: 'Runnable', data: { key: 'k', x: 1 } });
  expect(answer.body.started).toMatchObject([{ stepId: 'ship' }]);
  expect(await read(run)).toEqual(before);
  expect((await steps(run)).map(({ stepId }) => stepId)).toEqual(['ask']);
});

it('refuses an impossible modification with every obstacle, and changes nothing', async () => {
  const id = fresh('impossible');
  await define(id, [wait('ask')]);
  const run = await start(id, { key: 'k' });
  await waiting(run, 'ask');
  const before = await read(run);
  const answer = await modify(run, {
    reason: 'r',
    data: { x: 1 },
    cancel: [77],
    start: [{ stepId: 'shp' }, { stepId: 'ask', inside: 99 }],
  });
  expect(answer.status, answer.text).toBe(409);
  expect(answer.body.code).toBe('modification_impossible');
  expect(answer.body.errors).toMatchObject([
    { code: 'unknown_execution', pointer: '/cancel/0' },
    { code: 'unknown_step', pointer: '/start/0/stepId' },
    { code: 'unknown_execution', pointer: '/start/1/inside', executionIds: [] },
  ]);
  const missing = await modify(run, { reason: 'r', version: 9 });
  expect(missing.status).toBe(409);
  expect(missing.body.errors).toMatchObject([{ code: 'unknown_version', pointer: '/version' }]);
  expect(await read(run)).toEqual(before);
});

it('resumes a suspended run, and leaves it suspended unless asked', async () => {
  const id = fresh('suspended');
  await define(id, [wait('ask'), set('ship', 'shipped')]);
  const run = await start(id, { key: 'k' });
  await waiting(run, 'ask');
  expect((await suspend(run)).status).toBe(200);
  const left = await modify(run, { reason: 'r', cancel: ['*'], start: [{ stepId: 'ship' }] });
  expect(left.status, left.text).toBe(200);
  expect(left.body.workflow.status).toBe('Suspended');
  expect((await steps(run)).map(({ status }) => status)).toEqual(['Cancelled', 'Pending']);
  const resumed = await modify(run, { reason: 'again', data: { n: 1 }, resume: true });
  expect(resumed.status, resumed.text).toBe(200);
  expect(await ended(run)).toMatchObject({ status: 'Complete', data: { shipped: 2 } });
});

it('opens an ended run again', async () => {
  const id = fresh('ended');
  await define(id, [set('ship', 'shipped')]);
  const run = await start(id, { n: 1 });
  expect(await ended(run)).toMatchObject({ status: 'Complete', data: { shipped: 2 } });
  const patched = await modify(run, { reason: 'r', data: { n: 7 } });
  expect(patched.body.workflow).toMatchObject({ status: 'Complete', data: { n: 7, shipped: 2 } });
  const again = await rerun(run, { reason: 'once more' });
  expect(again.status, again.text).toBe(200);
  expect(again.body.workflow).toMatchObject({ status: 'Runnable', endTime: null, outcome: null });
  expect(await ended(run)).toMatchObject({ status: 'Complete', data: { n: 7, shipped: 8 } });
  const terminated = fresh('terminated');
  await define(terminated, [wait('ask', 'ship'), set('ship', 'shipped')]);
  const other = await start(terminated, { key: 'k' });
  expect((await terminate(other)).status).toBe(200);
  const reopened = await rerun(other, { reason: 'by mistake', from: 'ship' });
  expect(reopened.status, reopened.text).toBe(200);
  expect(await ended(other)).toMatchObject({ status: 'Complete', data: { shipped: 1 } });
});

it('moves a run to another version', async () => {
  const id = fresh('moved');
  await define(id, [wait('send', 'end'), set('end', 'old')]);
  const run = await start(id, { key: 'k' });
  await waiting(run, 'send');
  await define(id, [
    { ...wait('ship', 'end'), inputs: { EventName: '"E-send"', EventKey: 'data.key' } },
    set('end', 'new'),
  ]);
  const refused = await modify(run, { reason: 'r', version: 2 });
  expect(refused.status).toBe(409);
  expect(refused.body.errors).toMatchObject([{ code: 'step_missing' }]);
  const moved = await modify(run, { reason: 'r', version: 2, stepMap: { send: 'ship' } });
  expect(moved.status, moved.text).toBe(200);
  expect(moved.body.workflow.version).toBe(2);
  const listed = await server.call<{ items: Run[] }>(
    `GET /api/workflow?definitionId=${id}&version=2`,
  );
  expect(listed.body.items.map(({ workflowId }) => workflowId)).toEqual([run]);
  const published = await server.call('POST /api/event/E-send/k', { json: {} });
  expect(published.status, published.text).toBe(202);
  expect(await ended(run)).toMatchObject({ status: 'Complete', data: { new: 1 } });
});

it.each([
  [{ start: [{ stepId: 'a' }] }, 'reason'],
  [{ reason: '', resume: true }, 'must have 1 to 500 characters'],
  [{ reason: 'r', data: { a: 1 }, cancell: ['*'] }, '"cancell". Did you mean "cancel"'],
  [{ reason: 'r', start: [{ stepId: 'a', in: 1 }] }, 'Unknown member "in"'],
  [{ reason: ' ', resume: true }, 'reason must not be blank'],
  [{ resume: true }, 'body.reason is missing'],
  [{ reason: 5, resume: true }, 'body.reason must be a text'],
  [{ reason: 'r', cancel: 'all' }, 'body.cancel must be * or a list'],
  [{ reason: 'r', cancel: {} }, 'body.cancel must be * or a list'],
  [{ reason: 'r', cancel: [null] }, 'body.cancel must be * or a list of numbers'],
  [{ reason: 'r', start: 'ship' }, 'body.start must be a list'],
  [{ reason: 'r', start: ['ship'] }, 'body.start[0] must be an object'],
  [{ reason: 'r', start: [{ stepId: 'a' }, {}] }, 'body.start[1].stepId is missing'],
  [{ reason: 'r', start: [{ stepId: 5 }] }, 'body.start[0].stepId must be a text'],
  [{ reason: 'r', data: [] }, 'body.data must be an object'],
  [{ reason: 'r', stepMap: [], version: 1 }, 'body.stepMap must be an object'],
  [{ reason: 'r', resume: 'yes' }, 'body.resume must be true or false'],
  [{ reason: 'r' }, 'changes nothing'],
  [{ reason: 'r', data: {}, cancel: [], start: [], stepMap: {} }, 'changes nothing'],
  [{ reason: 'r', data: 1 }, 'data'],
  [{ reason: 'x'.repeat(501), resume: true }, 'reason'],
  [{ reason: 'r', cancel: [1.5] }, 'whole number'],
  [{ reason: 'r', cancel: ['all'] }, 'cancel'],
  [{ reason: 'r', stepMap: { a: 'b' }, resume: true }, 'version'],
])('refuses %j', async (request, why) => {
  const id = fresh('bad');
  await define(id, [set('a', 'b')]);
  const answer = await modify(await start(id), request);
  expect(answer.status, answer.text).toBe(400);
  expect(answer.body.detail).toContain(why);
});

it('refuses a list of more than 1000 executions to cancel', async () => {
  const cancel = Array.from({ length: 1001 }, (_, id) => id);
  const answer = await modify('any', { reason: 'r', cancel });
  expect([answer.status, answer.body.detail]).toEqual([
    400,
    'body.cancel must have at most 1000 executions',
  ]);
});

it('answers 404 for an unknown run', async () => {
  expect((await modify('nope', { reason: 'r', resume: true })).status).toBe(404);
  expect((await rerun('nope', { reason: 'r' })).status).toBe(404);
});
