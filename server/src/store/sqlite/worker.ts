/**
 * A database thread: opens the file, then runs the operations that the main thread requests: in batches, or, on the thread that
 * only reads, one by one.
 *
 * It is started from the compiled output as `worker.js`, and by tests from this source. So this file and everything it
 * imports must be TypeScript that Node can run by stripping types.
 */
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { failureOf, runBatch, runSearch } from './batch.js';
import { Database } from './database.js';
import type { FromThread, ThreadOptions, ThreadRequest, ToThread } from './thread-protocol.js';
import { refuseUnfinishedImport } from './unfinished-import.js';

/** Maximum number of operations in one transaction; bounds how many must be repeated when one fails. */
const BATCH_MAX = 512;

if (parentPort === null) throw new Error('worker.ts runs in a worker thread only');
const port = parentPort;
// The main thread passes exactly this type.
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
    refuseUnfinishedImport(options.path);
    return new Database(options);
  } catch (error) {
    post({ kind: 'failed', failure: failureOf(error, options.path) });
    return null;
  }
}

/** Takes this message and all others that have arrived, so that they share a commit. */
function serve(database: Database, first: ToThread): void {
  const requests: ThreadRequest[] = [];
  let message: ToThread | null = first;
  while (message !== null && message !== 'close') {
    requests.push(...message);
    message = nextMessage();
  }
  if (options.isReadOnly === true) {
    for (const request of requests)
      post({ kind: 'replies', replies: [runSearch(database, request)] });
  } else {
    for (let at = 0; at < requests.length; at += BATCH_MAX) {
      post({ kind: 'replies', replies: runBatch(database, requests.slice(at, at + BATCH_MAX)) });
    }
  }
  if (message === 'close') {
    database.close();
    port.close();
  }
}

function nextMessage(): ToThread | null {
  // Only the main thread holds the other end of the port, and it posts nothing else.
  const received = receiveMessageOnPort(port) as { readonly message: ToThread } | undefined;
  return received === undefined ? null : received.message;
}

function post(message: FromThread): void {
  port.postMessage(message);
}
