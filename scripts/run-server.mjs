/** The server as a child process that gets our signals, so that it can stop in peace. */
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { join } from 'node:path';
import { onNpxGone } from './npx-launcher.mjs';
import { root } from './stage.mjs';

/** Resolves with the exit code that a shell would show. */
export function runServer() {
  const server = spawn(process.execPath, [join(root, 'server/dist/main.js')], { stdio: 'inherit' });
  // A terminal sends Ctrl+C to the whole group: the server has it already, and a second one could mean "at once".
  const forwarded = process.stdin.isTTY ? ['SIGTERM', 'SIGHUP'] : ['SIGTERM', 'SIGHUP', 'SIGINT'];
  for (const signal of forwarded) process.on(signal, () => server.kill(signal));
  if (process.stdin.isTTY) process.on('SIGINT', () => undefined);
  onNpxGone(() => server.kill('SIGTERM'));
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.once('exit', (code, signal) => resolve(code ?? 128 + constants.signals[signal]));
  });
}
