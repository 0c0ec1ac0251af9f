/**
 * `npx` does not pass SIGTERM on: ended by it, it leaves what it launched behind, which would keep its port. So the server's
 * script looks for the npx that it was launched by, and ends the server when that is gone.
 */
import { spawnSync } from 'node:child_process';

const ANCESTORS_MAX = 6;
const CHECK_INTERVAL_MS = 500;

/** Calls back once, when the npx that launched this process has ended; never where there is none. */
export function onNpxGone(callback) {
  const launcher = findNpx();
  if (launcher === null) return;
  const timer = setInterval(() => {
    if (isAlive(launcher)) return;
    clearInterval(timer);
    callback();
  }, CHECK_INTERVAL_MS);
  timer.unref();
}

function findNpx() {
  let pid = process.ppid;
  for (let generation = 0; generation < ANCESTORS_MAX && pid > 1; generation += 1) {
    const { stdout } = spawnSync('ps', ['-o', 'ppid=,args=', '-p', String(pid)], {
      encoding: 'utf8',
    });
    // Without `ps` there is nothing to learn.
    const match = /^\s*(\d+)\s+(.*)/.exec(stdout ?? '');
    if (match === null) return null;
    if (/^npm exec |npx-cli\.js|\bnpx /.test(match[2])) return pid;
    pid = Number(match[1]);
  }
  return null;
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
