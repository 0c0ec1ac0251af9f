/**
 * The process of one interpreter. Reads requests from standard input and writes replies to standard output, both
 * synchronously: the event loop never turns between requests, so no timer, promise or finalizer that a guest managed
 * to leave behind could ever run, and a server that is gone ends this process with its next read.
 */
import { constants, readFileSync, readSync, writeSync } from 'node:fs';
import { bootSealed, makeSnapshot, type SealOptions } from './sealed-interpreter.js';
import {
  decodeRequestHeader,
  encodeReply,
  REQUEST_HEADER_BYTES,
  type ReplyFrame,
  type RequestFrame,
} from './frames.js';

/** The first request of every interpreter's process. */
export interface BootRequest extends Omit<SealOptions, 'snapshot' | 'runner'> {
  /** `snapshot`: answer with the memory of a fresh interpreter and end. */
  readonly task: 'serve' | 'snapshot';
  readonly runnerPath: string;
  readonly snapshotPath: string | null;
}

const STDIN = 0;
const STDOUT = 1;
const NOTHING = Buffer.alloc(0);
const pause = new Int32Array(new SharedArrayBuffer(4));
/** What Node offers and an interpreter's process has no use for, in case somebody finds a way into its JavaScript. */
const UNUSED_GLOBALS = [
  ...['fetch', 'WebSocket', 'EventSource', 'Request', 'Response', 'Headers', 'FormData', 'Blob'],
  ...['Worker', 'BroadcastChannel', 'MessageChannel', 'navigator', 'crypto', 'performance'],
  ...['setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask', 'structuredClone'],
  ...['WebAssembly', 'eval', 'Function', 'require'],
];

await main();

async function main(): Promise<void> {
  allowPyodideToStart();
  const { request } = receive();
  // Comes from our own server.
  const boot = JSON.parse(request.toString()) as BootRequest;
  const runner = readFileSync(boot.runnerPath, 'utf8');
  if (boot.task === 'snapshot') {
    const snapshot = await makeSnapshot({ ...boot, runner, snapshot: null });
    send({ ...emptyReply(), result: Buffer.from(snapshot) });
    return;
  }
  const snapshot = boot.snapshotPath === null ? null : readFileSync(boot.snapshotPath);
  const interpreter = await bootSealed({ ...boot, runner, snapshot });
  for (const name of UNUSED_GLOBALS) Reflect.deleteProperty(globalThis, name);
  globalThis.gc?.();
  send({ ...emptyReply(), heapBytes: interpreter.heapBytes });
  for (;;) {
    const reply = interpreter.call(receive());
    send({ ...reply, heapBytes: interpreter.heapBytes });
    // After the answer has left: nobody waits for it unless the next request is there already.
    interpreter.restoreIfChanged();
  }
}

function allowPyodideToStart(): void {
  // Emscripten shows the program's path to Python, as the variable `_` of the environment.
  process.argv[1] = '/python';
  // Pyodide asks for the file system's constants in a way that the permission model refuses.
  Object.defineProperty(process, 'binding', { value: () => ({ fs: constants }) });
}

function emptyReply(): ReplyFrame {
  const numbers = { progress: 0, deniedCalls: 0, heapBytes: 0 };
  return { outcome: 'answered', output: NOTHING, result: NOTHING, ...numbers };
}

function receive(): RequestFrame {
  const header = decodeRequestHeader(readExactly(REQUEST_HEADER_BYTES));
  const request = readExactly(header.requestBytes);
  const variables = readExactly(header.variablesBytes);
  return { request, variables, timeoutMs: header.timeoutMs, pure: header.pure };
}

function readExactly(bytes: number): Buffer {
  const buffer = Buffer.allocUnsafe(bytes);
  let offset = 0;
  while (offset < bytes) {
    const count = retryWhileBusy(() => readSync(STDIN, buffer, offset, bytes - offset, null));
    // The server is gone or has no more use for this process.
    if (count === 0) process.exit(0);
    offset += count;
  }
  return buffer;
}

function send(reply: ReplyFrame): void {
  const frame = encodeReply(reply);
  let offset = 0;
  while (offset < frame.length) {
    offset += retryWhileBusy(() => writeSync(STDOUT, frame, offset, frame.length - offset));
  }
}

/** A pipe may be in non-blocking mode; then there is nothing better to do than to look again. */
function retryWhileBusy(operation: () => number): number {
  for (;;) {
    try {
      return operation();
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined;
      if (code === 'EOF' || code === 'EPIPE') return process.exit(0);
      if (code !== 'EAGAIN') throw error;
      Atomics.wait(pause, 0, 0, 1);
    }
  }
}
