/**
 * Goal: explain says what a repair could do for a run that has failed, and each call that it names is possible.
 * Method: real runs on the embedded store, through the API.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Explanation, RepairHint } from '../../src/api/wire/models/explanation.js';
import { startRealServer, type RealServer } from './support/real-server.js';
import { fresh, runsOn, set, wait, type Run } from './support/repaired-runs.js';

let server: RealServer;
beforeAll(async () => {
  server = await startRealServer();
});
afterAll(() => server.stop());

const { define, ended, read, start, terminate, waiting } = runsOn(() => server);

/** Fails until the data has a `cure`. */
const broken = (id: string, errorBehavior: string, more: object = {}): object => ({
  id,
  stepType: 'NoOp',
  errorBehavior,
  outputs: { [id]: 'data["cure"]' },
  ...more,
});
const inside = (id: string, chain: readonly object[], more: object = {}): object => ({
  id,
  stepType: 'Sequence',
  do: [chain],
  ...more,
});

async function explain(id: string): Promise<Explanation> {
  const answer = await server.call<Explanation>(`GET /api/workflow/${id}/explain`);
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}

const call = ({ body, call: path }: RepairHint, more: object = {}) =>
  server.call<{ workflow: Run } & Run>(path, {
    json: { reason: 'as explain says', ...body, ...more },
  });

/** The hints of a run, each of which is possible. */
async function hintsFor(id: string): Promise<readonly RepairHint[]> {
  const { repairs } = await explain(id);
  for (const hint of repairs) {
    if (hint.action === 'restart') continue;
    const answer = await call(hint, { dryRun: true });
    expect(answer.status, `${hint.call} ${answer.text}`).toBe(200);
  }
  return repairs;
}

async function failedRun(steps: readonly object[], status: string, data = {}): Promise<string> {
  const id = fresh('hints');
  await define(id, steps);
  const run = await start(id, data);
  await expect.poll(async () => (await read(run)).status, { timeout: 40_000 }).toBe(status);
  return run;
}

const bodiesOf = (hints: readonly RepairHint[]): readonly unknown[] =>
  hints.map(({ action, body }) => [action, body]);

it('names the correction of a suspended step and the steps that follow', async () => {
  const steps = [broken('bad', 'Suspend', { nextStepId: 'after' }), set('after', 'shipped')];
  const run = await failedRun(steps, 'Suspended');
  const hints = await hintsFor(run);
  expect(bodiesOf(hints)).toEqual([
    ['modify', { data: {}, resume: true }],
    ['modify', { cancel: [1], start: [{ stepId: 'after' }], resume: true }],
    ['rerun', {}],
    ['restart', {}],
  ]);
  expect(hints[1]).toMatchObject({
    text: 'skips step bad and continues with step after',
    call: `POST /api/workflow/${run}/modify`,
  });
  expect((await call(hints[1]!)).status).toBe(200);
  expect(await ended(run)).toMatchObject({ outcome: 'Succeeded', data: { shipped: 1 } });
  const { lastRepair, repairs } = await explain(run);
  expect(repairs).toEqual([]);
  expect(lastRepair).toMatchObject({ action: 'modify', actor: 'anonymous' });
  expect(lastRepair?.detail).toContain('as explain says');
});

it('tries the step again with corrected data', async () => {
  const run = await failedRun([broken('bad', 'Suspend')], 'Suspended');
  const [correct, skip] = await hintsFor(run);
  expect(skip!.text).toBe('skips step bad, which ends its path');
  expect((await call(correct!, { data: { cure: 7 } })).status).toBe(200);
  expect(await ended(run)).toMatchObject({ outcome: 'Succeeded', data: { bad: 7 } });
});

it('continues inside the same container, for the same item', async () => {
  const chain = [broken('bad', 'Suspend', { nextStepId: 'after' }), set('after', 'n')];
  const loop = {
    id: 'each',
    stepType: 'Foreach',
    inputs: { Collection: '["a"]', RunParallel: 'True' },
    do: [chain],
  };
  const run = await failedRun([loop], 'Suspended');
  const [, skip] = await hintsFor(run);
  const expected = { stepId: 'after', inside: 1, item: 'a', index: 0 };
  expect(skip!.body).toEqual({ cancel: [2], start: [expected], resume: true });
});

it('leaves the rest of a compensation to the saga', async () => {
  const undo = broken('undo', 'Suspend');
  const booked = { id: 'book', stepType: 'NoOp', compensateWith: [undo], nextStepId: 'bad' };
  const saga = inside('trip', [booked, broken('bad', 'Compensate')], { saga: true });
  const run = await failedRun([saga], 'Suspended');
  const [, skip] = await hintsFor(run);
  expect(skip).toMatchObject({ text: 'skips step undo; the compensation continues without it' });
  expect((await call(skip!)).status).toBe(200);
  expect(await ended(run)).toMatchObject({ outcome: 'Compensated' });
});

it('opens a run again that an error has ended, at the outermost step around it', async () => {
  const run = await failedRun([inside('box', [broken('bad', 'Terminate')])], 'Terminated');
  const hints = await hintsFor(run);
  expect(bodiesOf(hints)).toEqual([
    ['modify', { start: [{ stepId: 'box' }] }],
    ['rerun', {}],
    ['restart', {}],
  ]);
  expect(hints[0]!.text).toContain(
    'repeats step box, which contains the failed step bad, and its next steps',
  );
  expect((await call(hints[2]!)).status).toBe(201);
  // A second restart would only do the same again.
  expect((await hintsFor(run)).map(({ action }) => action)).toEqual(['modify', 'rerun']);
  expect((await explain(run)).lastRepair).toMatchObject({ action: 'restart' });
  expect((await call(hints[0]!, { data: { cure: 1 } })).status).toBe(200);
  expect(await ended(run)).toMatchObject({ outcome: 'Succeeded' });
});

it('opens a run again where a client has terminated it', async () => {
  const run = await failedRun([inside('box', [wait('ask')])], 'Runnable', { key: fresh('key') });
  await waiting(run, 'ask');
  expect(await hintsFor(run)).toEqual([]);
  await terminate(run);
  const [reopen] = await hintsFor(run);
  expect(reopen).toMatchObject({
    text: 'reopens the run at the steps that were open when it was terminated: box',
    body: { start: [{ stepId: 'box' }] },
  });
});

it('tells the end after a repair from the termination before it', async () => {
  const id = fresh('hints');
  await define(id, [wait('ask', 'bad'), broken('bad', 'Terminate')]);
  const run = await start(id, { key: fresh('key') });
  await waiting(run, 'ask');
  await terminate(run);
  expect((await explain(run)).summary).toContain('terminated by an operator');
  const json = { reason: 'a mistake', start: [{ stepId: 'bad' }] };
  expect((await server.call(`POST /api/workflow/${run}/modify`, { json })).status).toBe(200);
  expect(await ended(run)).toMatchObject({ outcome: 'Failed' });
  const { lastRepair, summary } = await explain(run);
  expect(summary).toMatch(/^terminated .* because step bad failed/);
  expect(lastRepair?.detail).toContain('a mistake');
});

it('has no hints for runs that wait or that an operator has suspended', async () => {
  const run = await failedRun([wait('ask')], 'Runnable', { key: fresh('key') });
  await waiting(run, 'ask');
  await server.call(`PUT /api/workflow/${run}/suspend`);
  expect(await explain(run)).toMatchObject({ repairs: [], lastRepair: null });
});
