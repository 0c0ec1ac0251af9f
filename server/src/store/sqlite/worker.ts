/**
 * The database thread: opens the file, then runs what the main thread asks for, in batches.
 *
 * Started from compiled output as `worker.js`, and by tests from this source; so this file and all that it imports keep
 * to TypeScript that Node can run by stripping types.
 */
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { failureOf, runBatch } from './batch.js';
import { Database } from './database.js';
import type { FromThread, ThreadOptions, ThreadRequest, ToThread } from './thread-protocol.js';

/** Operations in one transaction at most; bounds what a failing one makes the others repeat. */
const BATCH_MAX = 512;

if (parentPort === null) throw new Error('worker.ts runs in a worker thread only');
const port = parentPort;
// The main thread starts this file with exactly this type.
const options = workerData as ThreadOptions;

const database = openDatabase();
if (database !== null) {
  port.on('message', (message: ToThread) => {
    serve(database, message);
  });
  post({ kind: 'ready' });
}

function openDatabase(): Database | null {
  try {
    return new Database(options);
  } catch (error) {
    post({ kind: 'failed', failure: failureOf(error, options.path) });
    return null;
  }
}

/** Takes the message and all others that wait by now, so that they share a commit. */
function serve(database: Database, first: ToThread): void {
  const requests: ThreadRequest[] = [];
  let message: ToThread | null = first;
  while (message !== null && message !== 'close') {
    requests.push(...message);
    message = nextMessage();
  }
  for (let at = 0; at < requests.length; at += BATCH_MAX) {
    post({ kind: 'replies', replies: runBatch(database, requests.slice(at, at + BATCH_MAX)) });
  }
  if (message === 'close') {
    database.close();
    port.close();
  }
}

function nextMessage(): ToThread | null {
  // Only the main thread holds the other end, and it posts nothing else.
  const received = receiveMessageOnPort(port) as { readonly message: ToThread } | undefined;
  return received === undefined ? null : received.message;
}

function post(message: FromThread): void {
  port.postMessage(message);
}
