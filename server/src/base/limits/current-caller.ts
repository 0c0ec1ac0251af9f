/**
 * The caller of the request in progress, who is charged for the memory and the store time that the request takes.
 *
 * It follows the request through every asynchronous call, so an operation can't forget whom to charge. What a request
 * merely starts, such as the work on a run, also sees it: charge only work that is done for the answer.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { HeldMemory } from './held-memory.js';

export interface Caller {
  /** `subject:` and the subject of the verified token, or `address:` and the client address. */
  readonly key: string;
  /** The client address, of which there may be several callers. */
  readonly address: string;
  /** Aborted when the caller disconnects before the answer was sent, or its right to make the call ends. */
  readonly gone: AbortSignal;
  /** What the request holds until it has been answered. */
  readonly memory: HeldMemory;
}

const storage = new AsyncLocalStorage<Caller | null>();

export function runForCaller<Result>(caller: Caller, work: () => Result): Result {
  return storage.run(caller, work);
}

/**
 * Does work of the server that a request merely starts, or whose result several requests share: it is charged to nobody, and
 * does not end with the caller.
 */
export function runForServer<Result>(work: () => Result): Result {
  return storage.run(null, work);
}

/** Null: the server itself does the work. */
export function currentCaller(): Caller | null {
  return storage.getStore() ?? null;
}
