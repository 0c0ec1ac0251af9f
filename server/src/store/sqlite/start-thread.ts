/** Starts the database thread, from the compiled output or from the sources. */
import { Worker } from 'node:worker_threads';
import { threadEntry } from '../../base/thread-entry.js';
import type { ThreadOptions } from './thread-protocol.js';

const EXEC_ARGV = [
  // Node 22 and 24 print a warning for `node:sqlite`, which doesn't help operators.
  '--disable-warning=ExperimentalWarning',
  // A profile of the server includes this thread.
  ...process.execArgv.filter((argument) => argument.startsWith('--cpu-prof')),
];

export function startThread(workerData: ThreadOptions): Worker {
  const entry = threadEntry(import.meta.url, './worker');
  return new Worker(entry, { workerData, execArgv: EXEC_ARGV });
}
