/**
 * Goal: triggers are seen and controlled in the terminal.
 * Method: the real command in a pipe, against one server.
 */
import type { DefinitionDocument } from '@stepwright/sdk';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CommandLine } from './command-line.js';

const REPORT: DefinitionDocument = {
  id: 'report',
  triggers: [
    { name: 'yearly', cron: '@yearly', timeZone: 'Asia/Tokyo', overlap: 'Allow' },
    { name: 'paid', event: { name: 'payment.received' } },
  ],
  steps: [{ id: 'write', stepType: 'NoOp' }],
};
let line: CommandLine;

beforeAll(async () => {
  line = await CommandLine.start();
  await line.client.definitions.register(REPORT);
});
afterAll(() => line.stop());

const call = (...args: readonly string[]) => line.pipe(['triggers', ...args]);

it('lists, pauses, fires, resumes and backfills triggers', async () => {
  const { code, stdout } = await call('list', 'report');
  expect(code).toBe(0);
  expect(stdout).toMatch(/^yearly +active +@yearly \(Asia\/Tokyo\) +\d{4}-/m);
  expect(stdout).toMatch(/^paid +active +event payment\.received/m);

  expect((await call('pause', 'report', 'yearly')).stderr).toBe('The trigger yearly is paused.\n');
  const fired = await call('fire', 'report', 'yearly');
  expect([fired.code, fired.stdout]).toEqual([0, expect.stringMatching(/^\w+\n$/)]);
  const run = await line.client.workflows.get(fired.stdout.trim());
  expect(run.trigger).toMatchObject({ name: 'yearly' });
  expect((await call('list', 'report')).stdout).toMatch(/^yearly +paused .*Started/m);
  expect((await call('resume', 'report', 'yearly')).stderr).toBe('The trigger yearly is active.\n');

  const period = ['--from', '2024-06-01T00:00:00Z', '--to', '2026-06-01T00:00:00Z'];
  const backfill = await call('backfill', 'report', 'yearly', ...period);
  expect(backfill.stdout).toBe('2024-12-31T15:00:00.000Z\n2025-12-31T15:00:00.000Z\n');
  const json = await call('list', 'report', '--json');
  expect(JSON.parse(json.stdout)).toHaveLength(2);
});

it('lists the schedule of all definitions', async () => {
  await line.client.definitions.register({
    ...REPORT,
    id: 'sweep',
    triggers: [{ name: 'quarterly', cron: '*/15 * * * *' }],
  });
  const { code, stdout } = await call('schedule', '--hours', '2');
  expect(code).toBe(0);
  expect(stdout).toMatch(/sweep +quarterly +\*\/15 \* \* \* \* +8$/m);
  const json = await call('schedule', '--hours', '2', '--json');
  expect(JSON.parse(json.stdout)).toMatchObject({
    items: [{ definitionId: 'sweep' }],
    more: false,
  });
  expect((await call('schedule', '--hours', '0')).code).toBe(2);
});

it('reports wrong names and periods', async () => {
  expect((await call('list', 'nope')).code).toBe(5);
  expect((await call('fire', 'report', 'nope')).code).toBe(5);
  expect((await call('backfill', 'report', 'yearly', '--from', 'soon', '--to', '1d')).code).toBe(2);
  const event = await call('backfill', 'report', 'paid', '--from', '2d', '--to', '1d');
  expect(event.code).not.toBe(0);
  expect(event.stderr).toContain('cron');
});
