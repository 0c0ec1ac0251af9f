/**
 * Goal: notifications and what became of their messages are at hand in the terminal.
 * Method: the real command in a pipe, against one server and a target whose answer the test chooses.
 */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../../sdk/test/support/eventually.js';
import { CommandLine } from './command-line.js';
import { ORDER } from './definitions.js';

const KEY = Buffer.from('a secret of the receiver').toString('base64');
const folder = mkdtempSync(path.join(tmpdir(), 'stepwright-cli-'));
const settings = path.join(folder, 'billing.json');
let status = 204;
const target = createServer((request, response) => {
  request.resume();
  response.writeHead(status).end(status === 204 ? undefined : 'try later');
});
let line: CommandLine;

beforeAll(async () => {
  target.listen(0, '127.0.0.1');
  await once(target, 'listening');
  const url = `http://127.0.0.1:${(target.address() as AddressInfo).port}/hooks`;
  writeFileSync(settings, JSON.stringify({ url, on: ['started'], secret: `whsec_${KEY}` }));
  line = await CommandLine.start();
  await line.client.definitions.register(ORDER);
});
afterAll(async () => {
  await line.stop();
  target.close();
  target.closeAllConnections();
  rmSync(folder, { recursive: true });
});

const call = (...args: readonly string[]) => line.pipe(['notifications', ...args]);

it('sets up, tests, follows, delivers again, pauses and removes notifications', async () => {
  expect(await call('list')).toMatchObject({ code: 0, stderr: 'There are no notifications.\n' });
  const put = await call('put', 'billing', '--body', `@${settings}`);
  expect([put.code, put.stdout]).toEqual([0, expect.stringMatching(/^State +active$/m)]);
  expect(put.stdout + put.stderr).not.toContain(KEY);
  expect((await call('list')).stdout).toMatch(/^billing +active +started +http:/m);

  const tested = await call('test', 'billing');
  expect([tested.code, tested.stdout]).toEqual([0, expect.stringMatching(/^Answer +204$/m)]);
  status = 503;
  const refused = await call('test', 'billing');
  expect([refused.code, refused.stdout]).toEqual([
    1,
    expect.stringMatching(/^State +failed[^]*^Answer +503 try later$/m),
  ]);
  const failed = await call('deliveries', 'billing', '--state', 'failed');
  expect(failed.stdout).toMatch(/^msg_\S+ +workflow\.test +failed +1 .* 503 try later/m);

  status = 204;
  const [id = ''] = /^msg_\S+/m.exec(failed.stdout) ?? [];
  expect((await call('redeliver', 'billing', id)).stdout).toMatch(/^State +waiting$/m);
  const run = await line.client.workflows.start('order', { order: 'N1' });
  await eventually('both arrive', async () => {
    const { stdout } = await call('deliveries', 'billing');
    return stdout.includes(run.id) && !/waiting|failed/.test(stdout);
  });

  expect((await call('pause', 'billing')).stdout).toMatch(/^State +paused by /m);
  expect((await call('resume', 'billing')).stdout).toMatch(/^State +active$/m);
  expect(await call('remove', 'billing')).toMatchObject({ code: 0, stdout: '' });
});

it('reports wrong names and settings', async () => {
  expect((await call('show', 'nope')).code).toBe(5);
  expect((await call('put', 'billing')).code).toBe(2);
  const invalid = await call('put', 'billing', '--body', 'url=http://x.example');
  expect(invalid.code).not.toBe(0);
  expect(invalid.stderr).toContain('on');
});
