/**
 * A thread that validates data.
 *
 * It is started from the compiled output as `worker.js`, and by tests from this source. So this file and everything it
 * imports must be TypeScript that Node can run by stripping types.
 */
import { parentPort } from 'node:worker_threads';
import { answer } from './validate.js';
import type { ValidationRequest } from './protocol.js';

if (parentPort === null) throw new Error('worker.ts runs in a worker thread only');
const port = parentPort;

port.on('message', (request: ValidationRequest) => {
  port.postMessage(answer(request));
});
