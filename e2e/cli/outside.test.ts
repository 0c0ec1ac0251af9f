/**
 * Goal: events, activities and types are at hand in the terminal.
 * Method: the real command, in a pseudo-terminal and in a pipe, against one server.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../sdk/test/support/eventually.js';
import { CommandLine } from './command-line.js';
import { ORDER, PACK } from './definitions.js';

let line: CommandLine;

beforeAll(async () => {
  line = await CommandLine.start();
  await line.client.definitions.register(ORDER);
  await line.client.definitions.register(PACK);
});
afterAll(() => line.stop());

describe('an event command', () => {
  it('publishes an event, which reaches its run', async () => {
    const run = await line.client.workflows.start('order', { order: 'E1' });
    const waiting = ['events', '--waiting', '--name', 'approved', '--key', 'E1'];
    await eventually('it waits', async () => (await line.pipe(waiting)).stdout.includes(run.id));
    expect((await line.terminal(waiting)).screen).toContain(run.id);
    expect(await line.json(waiting)).toMatchObject({ items: [{ workflowId: run.id }] });

    const published = await line.pipe(['publish', 'approved', 'E1', '-d', 'by=Ada']);
    expect(published).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^\S+\n$/) as string,
      stderr: 'Published; 1 run waited for it.\n',
    });
    expect(await run.wait()).toMatchObject({ data: { approved: { by: 'Ada' } } });

    const id = published.stdout.trim();
    const list = await line.pipe(['events', '--name', 'approved', '--key', 'E1']);
    expect(list.stdout).toMatch(new RegExp(`^${id} +approved +E1 .*{"by":"Ada"}$`, 'm'));
    expect((await line.terminal(['events'])).screen).toContain(id);
    expect((await line.pipe(['events', id])).stdout).toMatch(/^Name +approved\nKey +E1\n/m);
    expect((await line.terminal(['events', id])).screen).toContain('"by": "Ada"');
    expect(await line.json(['events', id])).toMatchObject({ id, data: { by: 'Ada' } });
  });

  it('publishes an event for one run, without data, once per key', async () => {
    const run = await line.client.workflows.start('order', { order: 'E2' });
    const args = ['publish', 'approved', 'E2', '--run', run.id, '--idempotency-key', 'once'];
    const first = await line.terminal(args);
    expect(first.code).toBe(0);
    expect((await run.wait()).outcome).toBe('Succeeded');
    expect((await line.json<{ id: string }>(args)).id).toBe(first.screen.split('\n')[0]);
  });

  it('rejects an unknown event, and wrong arguments', async () => {
    expect((await line.pipe(['events', 'nope'])).code).toBe(5);
    expect((await line.pipe(['events', '--waiting'])).code).toBe(2);
    expect((await line.pipe(['publish', 'approved'])).code).toBe(2);
  });
});

it('lists queues of work items, and their items', async () => {
  const none = await line.pipe(['activities', 'nothing']);
  expect(none).toEqual({ code: 0, stdout: '', stderr: 'There are no work items.\n' });
  const { id } = await line.client.workflows.start('pack', { box: 1 });
  const queued = async (): Promise<boolean> =>
    /^pack-box +1 +0 +.*0$/m.test((await line.pipe(['activities'])).stdout.replace(/ +\n/, '\n'));
  await eventually('the work is offered', queued);
  // Work that no worker asks for is a problem.
  expect((await line.terminal(['activities'])).screen).toContain('\u001b[31m0\u001b[39m');
  expect((await line.pipe(['activities', 'pack-box'])).stdout).toMatch(
    new RegExp(`^${id} +pack +1 +1 +waiting`, 'm'),
  );
  expect((await line.terminal(['activities', 'pack-box'])).screen).toContain(id);
  expect(await line.json(['activities'])).toMatchObject({
    items: [{ activityName: 'pack-box', waiting: 1 }],
  });
});

it('prints a TypeScript module with types', async () => {
  const { code, stdout } = await line.pipe(['types', 'order', '--version', '1']);
  expect(code).toBe(0);
  expect(stdout).toContain('export type Input');
  expect((await line.terminal(['types', 'order'])).screen).toContain('export type Input');
  expect(await line.json(['types', 'order'])).toEqual({ types: stdout });
  const file = path.join(line.folder, 'order.ts');
  expect((await line.pipe(['types', 'order', '-o', file])).code).toBe(0);
  expect(readFileSync(file, 'utf8')).toBe(stdout);
  expect((await line.pipe(['types', 'nope'])).code).toBe(5);
});
