/**
 * The main thread's side of a thread that validates data: one request at a time, in order.
 *
 *  VT1 A request that ends the thread (out of memory) or blocks it for good fails alone: the next one gets a new thread.
 *  VT2 The thread starts with the first request, so servers without schemas do not pay for it.
 */
import { Worker } from 'node:worker_threads';
import { Queue } from '../base/queue.js';
import { threadEntry } from '../base/thread-entry.js';
import type { ValidationAnswer, ValidationRequest } from './validation/protocol.js';

/** Memory of the thread in MB. More is only needed by schemas that multiply the data. */
const MEMORY_MB_MAX = 256;

/** The answer when the thread has ended, or must not be asked. */
const NO_ANSWER: ValidationAnswer = { kind: 'out-of-time', during: 'validation' };

interface Waiting {
  readonly request: ValidationRequest;
  readonly isWanted: () => boolean;
  readonly resolve: (answer: ValidationAnswer) => void;
}

export class ValidationThread {
  readonly #stuckMs: number;
  readonly #waiting = new Queue<Waiting>();
  #worker: Worker | null = null;
  #current: Waiting | null = null;
  #watchdog: NodeJS.Timeout | null = null;
  #isStopped = false;
  #load = 0;

  /** @param stuckMs maximum time for one request, including the start of the thread */
  constructor(stuckMs: number) {
    this.#stuckMs = stuckMs;
  }

  /** Requests that are being answered or wait. */
  get load(): number {
    return this.#load;
  }

  /**
   * Never rejects: a request that cannot be answered is out of time.
   *
   * @param isWanted checked when it is the request's turn; otherwise, the request is out of time at once
   */
  ask(request: ValidationRequest, isWanted: () => boolean = () => true): Promise<ValidationAnswer> {
    this.#load += 1;
    return new Promise((resolve) => {
      this.#waiting.push({ request, isWanted, resolve });
      this.#next();
    });
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#worker?.terminate();
    this.#settle(NO_ANSWER);
  }

  #next(): void {
    if (this.#current !== null) return;
    let waiting = this.#waiting.shift();
    while (waiting !== undefined && (this.#isStopped || !waiting.isWanted())) {
      this.#load -= 1;
      waiting.resolve(NO_ANSWER);
      waiting = this.#waiting.shift();
    }
    if (waiting !== undefined) this.#post(waiting);
  }

  #post(waiting: Waiting): void {
    this.#current = waiting;
    this.#worker ??= this.#start();
    this.#worker.ref();
    this.#worker.postMessage(waiting.request);
    this.#watchdog = setTimeout(() => this.#giveUp(), this.#stuckMs).unref();
  }

  /** Ends the thread. It is forgotten at once: an answer that it has just sent must not let it get the next request. */
  #giveUp(): void {
    void this.#worker?.terminate();
    this.#worker = null;
    this.#settle(NO_ANSWER);
  }

  #settle(answer: ValidationAnswer): void {
    const current = this.#current;
    if (this.#watchdog !== null) clearTimeout(this.#watchdog);
    this.#current = null;
    this.#worker?.unref();
    if (current !== null) this.#load -= 1;
    current?.resolve(answer);
    this.#next();
  }

  #start(): Worker {
    const worker = new Worker(threadEntry(import.meta.url, './validation/worker'), {
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB_MAX },
      // The thread needs none of it.
      env: {},
      execArgv: [],
    });
    // The exit follows, and answers the request.
    worker.on('error', () => undefined);
    worker.on('message', (answer: ValidationAnswer) => {
      if (this.#worker === worker) this.#settle(answer);
    });
    worker.once('exit', () => {
      if (this.#worker !== worker) return;
      this.#worker = null;
      this.#settle(NO_ANSWER);
    });
    return worker;
  }
}
