/**
 * The main thread's side of the database thread: queues operations, posts them in lists, settles their promises.
 *
 * If the thread ends unexpectedly, all pending operations fail (rule S5: their outcome is unknown). The next operation
 * starts a new thread.
 */
import type { Worker } from 'node:worker_threads';
import { Queue } from '../../base/queue.js';
import { SLICE_MS } from '../../base/slices.js';
import type { OperationArguments, StoreOperation } from '../store-operations.js';
import { StoreRefusedError, StoreUnavailableError } from '../store.js';
import { startThread } from './start-thread.js';
import type {
  FromThread,
  ThreadFailure,
  ThreadOptions,
  ThreadReply,
  ThreadRequest,
} from './thread-protocol.js';

/**
 * Replies settled before the callers that they resume get to work. The thread may send hundreds of replies at once, and each
 * resumes a workflow.
 */
const SETTLED_AT_ONCE = 16;

interface Waiting {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

export interface ThreadLogger {
  error(details: object, message: string): void;
}

export class DatabaseThread {
  readonly #options: ThreadOptions;
  readonly #logger: ThreadLogger | null;
  readonly #waiting = new Map<number, Waiting>();
  readonly #replies = new Queue<ThreadReply>();
  #isSettling = false;
  #queue: ThreadRequest[] = [];
  #lastId = 0;
  #worker: Promise<Worker> | null = null;
  #readyWorker: Worker | null = null;
  #isOpen = false;
  /** Null: the thread stays. */
  #idleMs: number | null = null;
  #idleTimer: NodeJS.Timeout | null = null;
  /** Resolves when the last thread that had nothing to do is gone. */
  #ending: Promise<unknown> = Promise.resolve();

  constructor(options: ThreadOptions, logger: ThreadLogger | null) {
    this.#options = options;
    this.#logger = logger;
  }

  async open(): Promise<void> {
    this.#isOpen = true;
    await this.#ensureWorker();
  }

  /** The first request starts the thread; it ends, and releases its memory, after `idleMs` without any. */
  openWhenNeeded(idleMs: number): void {
    this.#isOpen = true;
    this.#idleMs = idleMs;
  }

  /** Resolves when all requests have been answered and the file is closed. */
  async close(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#stopIdleTimer();
    await this.#ending;
    const worker = await this.#worker?.catch(() => null);
    if (worker === null || worker === undefined || worker.threadId === -1) return;
    const ended = new Promise((resolve) => worker.once('exit', resolve));
    this.#post();
    worker.postMessage('close');
    await ended;
  }

  request(name: StoreOperation, args: OperationArguments<StoreOperation>): Promise<unknown> {
    if (!this.#isOpen) {
      return Promise.reject(
        new StoreUnavailableError('The store has not been started, or has been stopped'),
      );
    }
    this.#stopIdleTimer();
    return new Promise((resolve, reject) => {
      this.#lastId += 1;
      this.#waiting.set(this.#lastId, { resolve, reject });
      this.#queue.push({ id: this.#lastId, name, args });
      if (this.#queue.length === 1) this.#postSoon();
    });
  }

  /**
   * An idle thread gets its work at the end of the current callback. A busy thread gains nothing from an early message,
   * so everything requested in this turn of the event loop is sent together.
   */
  #postSoon(): void {
    const post = (): void => {
      this.#post();
    };
    if (this.#waiting.size === 1) process.nextTick(post);
    else setImmediate(post);
  }

  #post(): void {
    if (this.#queue.length === 0) return;
    if (this.#readyWorker !== null) {
      const requests = this.#queue;
      this.#queue = [];
      this.#send(this.#readyWorker, requests);
      return;
    }
    this.#ensureWorker().then(
      () => {
        this.#post();
      },
      (error: unknown) => {
        this.#failAll(error instanceof Error ? error : new Error(String(error)));
      },
    );
  }

  #send(worker: Worker, requests: readonly ThreadRequest[]): void {
    try {
      worker.postMessage(requests);
    } catch (error) {
      // A value that can't be copied to another thread is an error of the caller, not of the database.
      for (const { id } of requests) {
        this.#take(id)?.reject(error instanceof Error ? error : new Error(String(error)));
      }
    }
  }

  #ensureWorker(): Promise<Worker> {
    this.#worker ??= this.#start();
    return this.#worker;
  }

  #start(): Promise<Worker> {
    const worker = startThread(this.#options);
    worker.on('error', (error: unknown) => {
      this.#logger?.error({ err: error }, 'The database thread failed');
    });
    const started = new Promise<Worker>((resolve, reject) => {
      worker.on('message', (message: FromThread) => {
        if (message.kind === 'replies') this.#receive(message.replies);
        else if (message.kind === 'failed') reject(errorOf(message.failure));
        else {
          this.#readyWorker = worker;
          resolve(worker);
        }
      });
      worker.once('exit', () => {
        const error = new StoreUnavailableError('The database thread has ended');
        reject(error);
        // One that had nothing to do; there may be another one by now.
        if (this.#worker !== started) return;
        this.#worker = null;
        this.#readyWorker = null;
        this.#failAll(error);
      });
    });
    return started;
  }

  #stopIdleTimer(): void {
    if (this.#idleTimer !== null) clearTimeout(this.#idleTimer);
    this.#idleTimer = null;
  }

  #startIdleTimer(): void {
    if (this.#idleMs === null || !this.#isOpen || this.#waiting.size > 0) return;
    this.#stopIdleTimer();
    this.#idleTimer = setTimeout(() => this.#endIdleWorker(), this.#idleMs).unref();
  }

  /** It is forgotten at once, so that the next request starts another one. */
  #endIdleWorker(): void {
    const worker = this.#readyWorker;
    if (worker === null) return;
    this.#worker = null;
    this.#readyWorker = null;
    this.#ending = new Promise((resolve) => worker.once('exit', resolve));
    worker.postMessage('close');
  }

  #receive(replies: readonly ThreadReply[]): void {
    for (const reply of replies) this.#replies.push(reply);
    if (!this.#isSettling) this.#settleSlice();
  }

  /** Sockets and timers are served between slices. Long slices are cheaper: each ends with one message to the thread. */
  #settleSlice(): void {
    const end = performance.now() + SLICE_MS;
    const settleSome = (): void => {
      for (let count = 0; count < SETTLED_AT_ONCE; count += 1) this.#settleNext();
      this.#isSettling = !this.#replies.isEmpty;
      if (!this.#isSettling) return;
      if (performance.now() < end) afterMicrotasks(settleSome);
      else setImmediate(() => this.#settleSlice());
    };
    settleSome();
  }

  #settleNext(): boolean {
    const reply = this.#replies.shift();
    if (reply === undefined) return false;
    const waiting = this.#take(reply.id);
    if ('failure' in reply) waiting?.reject(errorOf(reply.failure));
    else waiting?.resolve(reply.result);
    this.#startIdleTimer();
    return true;
  }

  /** Replies that have already arrived still count. */
  #failAll(error: Error): void {
    while (this.#settleNext());
    this.#queue = [];
    for (const id of [...this.#waiting.keys()]) this.#take(id)?.reject(error);
  }

  #take(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    return waiting;
  }
}

/** Calls back when the resumed callers wait again. A tick alone would come before them. */
function afterMicrotasks(callback: () => void): void {
  queueMicrotask(() => process.nextTick(callback));
}

function errorOf({ unavailable, refused, message }: ThreadFailure): Error {
  if (unavailable) return new StoreUnavailableError(message);
  const error = new Error(message);
  return refused ? new StoreRefusedError('a value is too large for SQLite', error) : error;
}
