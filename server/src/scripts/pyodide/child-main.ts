/**
 * The process of one interpreter: handles one request after another from the server, and ends when the server is gone.
 *
 * The server limits the time of a call, first with SIGINT and then with SIGKILL. In case the server dies while endless
 * code is running here, everything happens within a lease, which such code can exceed only once.
 */
import { constants, readFileSync } from 'node:fs';
import { bootPython, makeSnapshot, type PythonOptions } from './boot-python.js';
import { longestCallMs, type ReplyFrame, type RequestHeader } from './frames.js';
import { InterruptibleSection } from './interruptible-section.js';
import { SealedInterpreter } from './sealed-interpreter.js';
import { ServerPipe } from './server-pipe.js';
import { SnapshotFile } from './snapshot-file.js';
import { checkSeal } from './check-seal.js';

/** The first request to every interpreter process. */
export interface BootRequest extends Omit<PythonOptions, 'snapshot' | 'runner'> {
  /** `snapshot`: reply with the memory of a fresh interpreter and end. */
  readonly task: 'serve' | 'snapshot';
  readonly runnerPath: string;
  readonly snapshotPath: string | null;
  /** Code that no server waits for any more runs at most this long, or twice its own limit if that is longer. */
  readonly leaseMs: number;
}

const NOTHING = Buffer.alloc(0);
/** Captured before the global is removed. */
const now = performance.now.bind(performance);
/**
 * Globals of Node that an interpreter's process does not need, removed in case somebody finds a way into its
 * JavaScript.
 */
const UNUSED_GLOBALS = [
  'fetch',
  'WebSocket',
  'EventSource',
  'Request',
  'Response',
  'Headers',
  'FormData',
  'Blob',
  'Worker',
  'BroadcastChannel',
  'MessageChannel',
  'navigator',
  'crypto',
  'performance',
  'setTimeout',
  'setInterval',
  'setImmediate',
  'queueMicrotask',
  'structuredClone',
  'WebAssembly',
  'eval',
  'Function',
  'require',
];

await main();

async function main(): Promise<void> {
  allowPyodideToStart();
  const pipe = new ServerPipe();
  const { request } = pipe.receiveBody(pipe.receiveHeader());
  // The request comes from our own server.
  const boot = JSON.parse(request.toString()) as BootRequest;
  const runner = readFileSync(boot.runnerPath, 'utf8');
  if (boot.task === 'snapshot') {
    const snapshot = await makeSnapshot({ ...boot, runner, snapshot: null });
    pipe.send({ ...emptyReply(), result: Buffer.from(snapshot) });
    return;
  }
  const snapshot = boot.snapshotPath === null ? null : new SnapshotFile(boot.snapshotPath);
  const interpreter = await bootSealed({ ...boot, runner, snapshot });
  for (const name of UNUSED_GLOBALS) Reflect.deleteProperty(globalThis, name);
  globalThis.gc?.();
  pipe.send({ ...emptyReply(), heapBytes: interpreter.heapBytes });
  serve(interpreter, pipe, boot.leaseMs);
}

async function bootSealed(options: PythonOptions): Promise<SealedInterpreter> {
  const interpreter = new SealedInterpreter(await bootPython(options), options);
  checkSeal(interpreter);
  return interpreter;
}

/** Never returns. */
function serve(interpreter: SealedInterpreter, pipe: ServerPipe, shortestLeaseMs: number): void {
  let leaseMs = shortestLeaseMs;
  let leaseEndsAt = 0;
  let header: RequestHeader | null = null;
  const restoring = { isUnderWay: false };
  /** May be interrupted at any point and repeated. */
  const restore = (work: () => void): void => {
    restoring.isUnderWay = true;
    work();
    restoring.isUnderWay = false;
  };
  const answerWithinLease = (): void => {
    for (;;) {
      header ??= pipe.receiveHeader();
      const longestMs = longestCallMs(header.timeoutMs);
      if (now() + longestMs > leaseEndsAt) {
        // Longer than the server lets the call run before it kills this process.
        leaseMs = Math.max(shortestLeaseMs, 2 * longestMs);
        return;
      }
      const { pure } = header;
      restore(() => interpreter.prepareFor(pure));
      const frame = pipe.receiveBody(header);
      header = null;
      const reply = interpreter.call(frame);
      pipe.send({ ...reply, heapBytes: interpreter.heapBytes });
      // Restore after the response was sent: the server does not wait for this unless the next request has already
      // arrived.
      restore(() => interpreter.restoreIfChanged());
    }
  };
  const lease = new InterruptibleSection('__stepwright_serve', answerWithinLease);
  for (;;) {
    leaseEndsAt = now() + leaseMs;
    // A lease that ends while waiting for a request is renewed. Otherwise, the process is an orphan.
    if (!lease.run(leaseMs) && !pipe.isWaiting && !restoring.isUnderWay) process.exit(1);
    restoring.isUnderWay = false;
  }
}

function allowPyodideToStart(): void {
  // Emscripten shows the program's path to Python, as the variable `_` of the environment.
  process.argv[1] = '/python';
  // Pyodide asks for the file system's constants in a way that the permission model rejects.
  Object.defineProperty(process, 'binding', { value: () => ({ fs: constants }) });
}

function emptyReply(): ReplyFrame {
  const numbers = { progress: 0, deniedCalls: 0, heapBytes: 0 };
  return { outcome: 'answered', output: NOTHING, result: NOTHING, ...numbers };
}
