/**
 * Goal: API keys are created, seen and removed in the terminal.
 * Method: the real command in a pipe, against one server.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CommandLine } from './command-line.js';

let line: CommandLine;

beforeAll(async () => {
  line = await CommandLine.start();
});
afterAll(() => line.stop());

const call = (...args: readonly string[]) => line.pipe(['keys', ...args]);

it('creates, lists and removes API keys', async () => {
  const scopes = ['--scope', 'conductor:worker', '--scope', 'conductor:viewer'];
  const created = await call('create', 'billing', ...scopes, '--expires', '2099-01-01T00:00:00Z');
  expect(created.code).toBe(0);
  expect(created.stdout).toMatch(/^sw_\w+_[\w-]{43}\n$/);
  const [key] = await line.client.keys.list();
  expect(key).toMatchObject({ name: 'billing', expires: '2099-01-01T00:00:00.000Z' });
  const list = await call('list');
  expect(list.stdout).toMatch(/billing +conductor:worker conductor:viewer +never/);
  expect(list.stdout).not.toContain(created.stdout.trim());
  expect((await call('remove', key?.id ?? '')).stderr).toBe(`Removed the key ${key?.id}.\n`);
  expect((await call('remove', key?.id ?? '')).code).toBe(5);
  expect((await call('create', 'x', '--scope', 'root')).code).not.toBe(0);
});
