/**
 * The memory budget of everything that grows with what callers send and store, and how it is divided.
 *
 * The rest of the memory is for code, for values being written or read, and for garbage that has not been collected yet.
 */
import { getHeapStatistics } from 'node:v8';

/** In bytes, as `memoryCost` estimates them. */
export interface MemoryBudget {
  /** States of instances in memory, including the messages and events that they take. */
  readonly instances: number;
  /** Request bodies that are being read or processed. */
  readonly bodies: number;
  /** Responses that are being created, or waiting for their reader. */
  readonly answers: number;
  /** Responses that HttpRequest steps read, and results of HttpRequest and custom steps that no run has saved yet. */
  readonly calls: number;
  /** Maximum length of the state of one instance, as text. */
  readonly stateMax: number;
}

const HEAP_SHARE = 1 / 3;
/** The Python interpreters and the database thread need memory of their own in the same container. */
const CONTAINER_SHARE = 1 / 6;

/** The default, derived from the memory limit of V8 and, in a container, the limit of the container. */
export function defaultBudget(): number {
  const heap = getHeapStatistics().heap_size_limit * HEAP_SHARE;
  // Without a limit, Node returns 0, undefined or the largest number.
  const container = process.constrainedMemory() || Infinity;
  return Math.floor(Math.min(heap, container * CONTAINER_SHARE));
}

export function memoryBudget(total: number): MemoryBudget {
  return {
    instances: Math.floor(total * 0.5),
    bodies: Math.floor(total * 0.2),
    answers: Math.floor(total * 0.2),
    calls: Math.floor(total * 0.1),
    stateMax: Math.floor(total / 8),
  };
}
