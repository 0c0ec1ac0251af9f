/** The memory for instances and events that are read for display, shared among the kinds of reads. */
import { ReadingGate } from './reading-gate.js';

/** The share of memory, in addition to that for instances at work. */
const READING_SHARE = 1 / 4;
/** Reads at the same time: enough to keep the store busy. */
const READS_MAX = 16;
/** Explanations at the same time, which keep the processor busy. */
const EXPLANATIONS_MAX = 4;
/** Exports at the same time, which may take as long as their callers read. */
const EXPORTS_MAX = 8;

export interface ReadingGates {
  readonly reading: ReadingGate;
  readonly explaining: ReadingGate;
  readonly exporting: ReadingGate;
}

export function createReadingGates({
  instanceMemoryMax,
}: {
  readonly instanceMemoryMax: number;
}): ReadingGates {
  const readingMax = instanceMemoryMax * READING_SHARE;
  return {
    reading: new ReadingGate(readingMax - readingMax / 4, READS_MAX),
    explaining: new ReadingGate(readingMax / 4, EXPLANATIONS_MAX),
    exporting: new ReadingGate(readingMax / 4, EXPORTS_MAX),
  };
}
