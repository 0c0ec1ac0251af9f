/**
 * Goal: a repair with an Idempotency-Key is applied once, however often, when and where it is repeated.
 * Method: real runs on the embedded store, through the API.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startRealServer, type RealServer } from './support/real-server.js';
import { fresh, runsOn, set, wait, type RepairAnswer } from './support/repaired-runs.js';

let folder: string;
let server: RealServer;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stepwright-repeated-'));
  server = await startRealServer({ DATA_DIR: folder });
});
afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

const { define, ended, rerun, start, steps, terminate, waiting } = runsOn(() => server);

const repair = (
  run: string,
  json: object,
  { key, verb = 'modify' }: { readonly key: string; readonly verb?: 'modify' | 'rerun' },
): Promise<RepairAnswer> => {
  const headers = { 'Idempotency-Key': key };
  return server.call(`POST /api/workflow/${run}/${verb}`, { json, headers });
};

async function waitingRun(): Promise<string> {
  const id = fresh('repeated');
  await define(id, [
    wait('ask'),
    wait('hold', 'call'),
    { id: 'call', stepType: 'Activity', inputs: { ActivityName: '"nobody"' } },
    set('other', 'other'),
  ]);
  const run = await start(id, { key: id });
  await waiting(run, 'ask');
  return run;
}

const startsOf = async (run: string, stepId: string): Promise<number> =>
  (await steps(run)).filter((step) => step.stepId === stepId).length;

const HOLD = { reason: 'r', cancel: ['*'], start: [{ stepId: 'hold' }] };

/** The lists of an answer: the run itself may have gone on. */
const resultOf = ({ body, status }: RepairAnswer): unknown => {
  const { cancelled, repeats, started, warnings } = body;
  return { status, cancelled, repeats, started, warnings };
};

it('responds to a repeated modification with its first result, and applies it once', async () => {
  const run = await waitingRun();
  const key = fresh('key');
  // The activity has run before, so it is named among the repeated steps.
  const begun = await repair(run, { ...HOLD, start: [{ stepId: 'call' }] }, { key: fresh('key') });
  expect(begun.status, begun.text).toBe(200);
  await waiting(run, 'call');
  const first = await repair(run, HOLD, { key });
  expect(first.status, first.text).toBe(200);
  expect(first.body).toMatchObject({
    cancelled: [{ stepId: 'call' }],
    started: [{ stepId: 'hold' }],
    repeats: [{ stepId: 'call', stepType: 'Activity' }],
  });
  const expected = resultOf(first);
  // Later actions push the modification out of the audit.
  for (let n = 0; n < 101; n += 1) {
    const tagged = await server.call(`PATCH /api/workflow/${run}/tags`, { json: { n: `${n}` } });
    expect(tagged.status).toBe(200);
  }
  expect(resultOf(await repair(run, HOLD, { key }))).toEqual(expected);
  await server.stop();
  server = await startRealServer({ DATA_DIR: folder });
  expect(resultOf(await repair(run, HOLD, { key }))).toEqual(expected);
  expect((await terminate(run)).status).toBe(200);
  const again = await repair(run, HOLD, { key });
  expect(resultOf(again)).toEqual(expected);
  expect(again.body.workflow.status).toBe('Terminated');
  expect(await startsOf(run, 'hold')).toBe(1);
});

it('applies one of several simultaneous modifications with the same key', async () => {
  const run = await waitingRun();
  const key = fresh('key');
  const answers = await Promise.all(Array.from({ length: 8 }, () => repair(run, HOLD, { key })));
  for (const answer of answers) expect(resultOf(answer)).toEqual(resultOf(answers[0]!));
  expect(answers[0]!.status, answers[0]!.text).toBe(200);
  expect(await startsOf(run, 'hold')).toBe(1);
});

it('applies a repair of an ended run once, and the same key works again on another run', async () => {
  const key = fresh('key');
  for (const run of [await waitingRun(), await waitingRun()]) {
    expect((await terminate(run)).status).toBe(200);
    const json = { reason: 'r', from: 'other' };
    const first = await repair(run, json, { key, verb: 'rerun' });
    expect(first.status, first.text).toBe(200);
    await ended(run);
    const again = await repair(run, json, { key, verb: 'rerun' });
    expect(resultOf(again)).toEqual(resultOf(first));
    expect(await startsOf(run, 'other')).toBe(1);
    // Without the key, it is another request.
    expect((await rerun(run, json)).status).toBe(200);
    await ended(run);
    expect(await startsOf(run, 'other')).toBe(2);
  }
});

it('rejects another repair with the same key, whatever the run has done since', async () => {
  const run = await waitingRun();
  const key = fresh('key');
  expect((await repair(run, { reason: 'r', data: { n: 1 } }, { key })).status).toBe(200);
  const others = async (): Promise<readonly RepairAnswer[]> => [
    await repair(run, { reason: 'r', data: { n: 2 } }, { key }),
    // The same body as the first, for another call.
    await repair(run, { reason: 'r', data: { n: 1 } }, { key, verb: 'rerun' }),
  ];
  const answers = await others();
  expect((await terminate(run)).status).toBe(200);
  for (const { body, status, text } of [...answers, ...(await others())]) {
    expect([status, body.code], text).toEqual([409, 'idempotency_conflict']);
  }
  expect((await ended(run)).data['n']).toBe(1);
});

it('does not keep the key of a dry run or of an impossible modification', async () => {
  const run = await waitingRun();
  const key = fresh('key');
  const preview = await repair(run, { ...HOLD, dryRun: true }, { key });
  expect(preview.status, preview.text).toBe(200);
  const impossible = await repair(run, { reason: 'r', cancel: [77] }, { key });
  expect(impossible.body.code, impossible.text).toBe('modification_impossible');
  expect((await repair(run, HOLD, { key })).status).toBe(200);
  expect(await startsOf(run, 'hold')).toBe(1);
  // A dry run with a used key shows what a new modification would do.
  expect((await repair(run, { ...HOLD, dryRun: true }, { key })).status).toBe(200);
  expect(await startsOf(run, 'hold')).toBe(1);
});

it('rejects a key that no header can have', async () => {
  const run = await waitingRun();
  const answer = await repair(run, HOLD, { key: 'x'.repeat(256) });
  expect([answer.status, answer.body.code]).toEqual([400, 'invalid_request']);
  expect(await startsOf(run, 'hold')).toBe(0);
});
