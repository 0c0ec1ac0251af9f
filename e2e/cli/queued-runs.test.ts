/**
 * Goal: a terminal shows that a run waits for the runs before it, and for which ones.
 * Method: the real command, in a pipe, against one server.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CommandLine } from './command-line.js';
import { ORDER } from './definitions.js';

let line: CommandLine;

beforeAll(async () => {
  line = await CommandLine.start();
  await line.client.definitions.register(ORDER);
});
afterAll(() => line.stop());

it('shows queued runs in its answers and lists until they begin', async () => {
  const args = ['-d', 'order=A8', '--reference', 'A8', '--on-conflict', 'queue'];
  const first = (await line.pipe(['run', 'order', ...args])).stdout.trim();
  const { stderr, stdout } = await line.pipe(['run', 'order', ...args]);
  const id = stdout.trim();
  expect(stderr).toBe(
    `Queued order, version 1: it waits for other runs to end. Show its progress: stepwright show ${id}\n`,
  );
  const list = ['list', '--queued', '--reference', 'A8'];
  expect((await line.pipe(list)).stdout).toMatch(new RegExp(`^${id} +order v1 +Queued `, 'm'));
  expect(await line.json(list)).toMatchObject({ items: [{ workflowId: id, queued: true }] });
  expect((await line.pipe(['show', id])).stdout).toMatch(/^Status +Queued$/m);
  expect((await line.pipe(['show', first])).stdout).toMatch(/^Status +Runnable$/m);
  expect((await line.pipe(['explain', id])).stdout).toBe(
    "Runnable: queued: waits for the runs with the reference 'A8' that were open before it; 1 of them is open\n" +
      `  waits for run ${first}\n`,
  );
  const waiting = await line.pipe(['run', 'order', ...args, '--wait', '--timeout', '1s']);
  expect(waiting.code).toBe(14);
  expect(waiting.stderr).toMatch(/^\S+ {2}queued order, version 1\n\S+ {2}still queued\n/);
  await line.client.events.publish('approved', 'A8', null);
  await line.client.workflows.wait(id);
  expect((await line.pipe(list)).stdout).not.toContain(id);
});
