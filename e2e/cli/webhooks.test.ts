/**
 * Goal: webhooks are set up and seen in the terminal.
 * Method: the real command in a pipe, against one server.
 */
import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CommandLine } from './command-line.js';

let line: CommandLine;

beforeAll(async () => {
  line = await CommandLine.start();
});
afterAll(() => line.stop());

const SECRET = 'a secret of 16 or more';
const call = (...args: readonly string[]) => line.pipe(['webhooks', ...args]);

it('sets up, calls, lists, shows and removes webhooks', async () => {
  await line.client.definitions.register({ id: 'shop', steps: [{ id: 's', stepType: 'NoOp' }] });
  const body = {
    scheme: 'github',
    secret: SECRET,
    start: { definitionId: 'shop' },
  };
  const put = await call('put', 'shop', '--body', JSON.stringify(body));
  expect([put.code, put.stderr]).toEqual([0, '']);
  expect(put.stdout).toMatch(/^Path +\/hooks\/shop$/m);
  expect((await call('list')).stdout).toMatch(/^shop +github +start shop/m);

  const signature = createHmac('sha256', SECRET).update('{}').digest('hex');
  const answer = await fetch(`${line.url}/hooks/shop`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-hub-signature-256': `sha256=${signature}` },
    body: '{}',
  });
  expect(answer.status).toBe(202);
  const { id } = (await answer.json()) as { id: string };
  expect(await line.client.workflows.get(id)).toMatchObject({ definitionId: 'shop' });

  const shown = await call('show', 'shop', '--json');
  expect(JSON.parse(shown.stdout)).toMatchObject({ scheme: 'github', start: body.start });
  expect(shown.stdout).not.toContain(SECRET);
  expect((await call('remove', 'shop')).stderr).toBe('Removed the webhook shop.\n');
  expect((await call('show', 'shop')).code).toBe(5);
});
