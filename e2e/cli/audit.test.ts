/**
 * Goal: the audit log is read in the terminal.
 * Method: the real command in a pipe, against one server.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CommandLine } from './command-line.js';

let line: CommandLine;

beforeAll(async () => {
  line = await CommandLine.start();
});
afterAll(() => line.stop());

it('lists, filters and continues the audit log', async () => {
  const steps = [{ id: 'a', stepType: 'NoOp' }];
  for (const id of ['first', 'second']) await line.client.definitions.register({ id, steps });
  const { id: key } = await line.client.keys.create({
    name: 'billing',
    scopes: ['conductor:worker'],
  });
  const all = await line.pipe(['audit']);
  expect(all.code).toBe(0);
  const rows = all.stdout.trim().split('\n').slice(1);
  expect(rows).toHaveLength(3);
  expect(rows[0]).toMatch(new RegExp(`anonymous +key.create +${key} +127.0.0.1 +billing$`));
  expect(rows[2]).toMatch(/anonymous +definition.register +first +127.0.0.1 +version 1$/);
  const filter = ['--target-kind', 'definition', '--limit', '1'];
  const page = await line.json<{ readonly nextCursor: string }>(['audit', ...filter]);
  expect(page).toMatchObject({ items: [{ target: { kind: 'definition', id: 'second' } }] });
  const rest = await line.json(['audit', ...filter, '--cursor', page.nextCursor]);
  expect(rest).toMatchObject({ items: [{ target: { id: 'first' } }] });
  expect(await line.json(['audit', '--actor', 'eve'])).toEqual({ items: [], nextCursor: null });
  expect((await line.pipe(['audit', '--from', 'soon'])).code).not.toBe(0);
  const found = await line.client.audit.list({ targetKind: 'key', limit: 1 }).page();
  expect(found.items).toMatchObject([{ actor: 'anonymous', target: { id: key } }]);
});
