/**
 * The command of the README: `npx -y pnpm@12 start` builds, serves, and ends cleanly when npx receives a signal. The
 * whole chain runs: npx, its shell, pnpm, the shell of the script, the server. No part of it may remain, because it
 * would keep the port.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { eventually } from '../../sdk/test/support/eventually.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const START_TIMEOUT_MS = 120_000;

it.each(['SIGTERM', 'SIGINT'] as const)('stops the server when npx receives %s', async (signal) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'stepwright-start-'));
  const npx = spawn('npx', ['-y', 'pnpm@12', 'start'], {
    cwd: ROOT,
    env: { ...process.env, PORT: '0', DATA_DIR: folder, PYTHON_SPARES: '0', LOG_LEVEL: 'info' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [npx.stdout, npx.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  }
  // Later than the exit of npx: any process of the chain that is still running keeps its output open.
  const closed = new Promise<void>((resolve) => npx.once('close', () => resolve()));
  const url = await eventually(
    'the server listens',
    () => /listens on (http:\/\/\S+)/.exec(output)?.[1],
    START_TIMEOUT_MS,
  );
  expect((await fetch(`${url}/health/ready`)).status).toBe(200);

  npx.kill(signal);
  await closed;
  expect(output).toMatch(/"signal":"SIG(TERM|INT)"/);
  await expect(fetch(`${url}/health/ready`)).rejects.toThrow();
  rmSync(folder, { recursive: true, force: true });
});
