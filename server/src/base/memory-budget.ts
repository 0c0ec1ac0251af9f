/**
 * How many bytes of memory may be taken by what grows with what callers send and store, and who may take how much of it.
 *
 * The rest of the memory is for the code, for what is being written or read, and for garbage that was not collected yet.
 */
import { getHeapStatistics } from 'node:v8';

/** In bytes, as `memoryCost` estimates them. */
export interface MemoryBudget {
  /** States of instances in memory, with the messages and events that they take in. */
  readonly instances: number;
  /** Bodies of requests that are being read or worked on. */
  readonly bodies: number;
  /** Answers that are being made, or wait for their reader. */
  readonly answers: number;
  /** What HttpRequest steps read. */
  readonly calls: number;
  /** The longest state of one instance, as text. */
  readonly stateMax: number;
}

const HEAP_SHARE = 1 / 3;
/** The interpreters of Python and the database thread need memory of their own in the same container. */
const CONTAINER_SHARE = 1 / 6;

/** From what V8 may use and, in a container, from what the container may. */
export function defaultBudget(): number {
  const heap = getHeapStatistics().heap_size_limit * HEAP_SHARE;
  // Without a limit Node answers 0, undefined or the largest number.
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
