/**
 * The pristine memory of an interpreter, and how it is restored.
 *
 * Hardly anything changes between the snapshot and the sealed interpreter, so only the changed words are kept; the rest
 * is read from the file of the snapshot again. Without a snapshot, a copy is kept instead.
 *
 * Almost half of the memory is zero. Pages of zeros are neither kept nor written, because the system allocates no memory
 * for a page that was never written.
 */
const CHUNK_BYTES = 16_384;
const ZEROS = Buffer.alloc(CHUNK_BYTES);
/** A part of this size that differs is compared word by word. */
const PART_BYTES = 1024;
const WORD_BYTES = Uint32Array.BYTES_PER_ELEMENT;

/** Bytes that can be read again and again, and are the same each time. */
export interface MemorySource {
  readonly length: number;
  /** Fills `target` with the bytes from `start` on. @throws Error if they are no longer the same */
  readonly read: (target: Buffer, start: number) => void;
}

interface Run {
  readonly start: number;
  readonly end: number;
}

export class PristineMemory {
  /** The parts that are not zero, in order. */
  readonly #runs: readonly Run[];
  readonly #source: MemorySource;
  /** The words that are different in the source: index, word, index, word, … */
  readonly #changes: Uint32Array;

  /** @param snapshot of the same memory at an earlier time */
  constructor(memory: ArrayBuffer, snapshot: MemorySource | null) {
    this.#runs = findRuns(memory);
    const end = this.#runs.at(-1)?.end ?? 0;
    const hasAll = snapshot !== null && snapshot.length >= end;
    this.#source = hasAll ? snapshot : copyOf(memory, this.#runs);
    this.#changes = findChanges(memory, this.#runs, this.#source);
  }

  /** How many words are kept besides the source. */
  get changedWords(): number {
    return this.#changes.length / 2;
  }

  /**
   * Restores the memory. If it has grown in the meantime, the added part is cleared.
   * @throws Error if the snapshot can no longer be read; the memory is not usable then
   */
  restore(memory: ArrayBuffer): void {
    const target = Buffer.from(memory);
    let restored = 0;
    for (const { start, end } of this.#runs) {
      clear(target, restored, start);
      this.#source.read(target.subarray(start, end), start);
      restored = end;
    }
    clear(target, restored, target.length);
    const words = new Uint32Array(memory);
    const changes = this.#changes;
    for (let at = 0; at < changes.length; at += 2) words[changes[at] ?? 0] = changes[at + 1] ?? 0;
  }
}

/**
 * A snapshot of Pyodide that is restored in the same way. Pyodide would copy it as a whole. When it asks for the part
 * that is memory, this class copies that part to its place and returns nothing to copy.
 */
export class PlacedSnapshot extends Uint8Array {
  static get [Symbol.species](): Uint8ArrayConstructor {
    return Uint8Array;
  }

  #memoryOffset: number | null = null;

  /** The destination, available once the module has been instantiated. */
  target: () => ArrayBuffer = () => {
    throw new Error('The snapshot has no target yet');
  };

  override subarray(start?: number, end?: number): Uint8Array<ArrayBuffer> {
    const part = super.subarray(start, end);
    // Only the memory extends to the end.
    if (end !== undefined) return part;
    this.#memoryOffset = part.byteOffset - this.byteOffset;
    const image = Buffer.from(part.buffer, part.byteOffset, part.length);
    const target = Buffer.from(this.target());
    for (let offset = 0; offset < image.length; offset += CHUNK_BYTES) {
      const chunk = image.subarray(offset, offset + CHUNK_BYTES);
      if (isZero(chunk)) clear(target, offset, offset + chunk.length);
      else chunk.copy(target, offset);
    }
    return new Uint8Array(0);
  }

  /** Where the memory begins in the snapshot. @throws Error if Pyodide has not asked for it */
  memoryOffset(): number {
    if (this.#memoryOffset === null) throw new Error('The snapshot has not been placed');
    return this.#memoryOffset;
  }
}

function findRuns(memory: ArrayBuffer): readonly Run[] {
  const bytes = Buffer.from(memory);
  const runs: { start: number; end: number }[] = [];
  for (let start = 0; start < bytes.length; start += CHUNK_BYTES) {
    const end = Math.min(start + CHUNK_BYTES, bytes.length);
    if (isZero(bytes.subarray(start, end))) continue;
    const last = runs.at(-1);
    if (last?.end === start) last.end = end;
    else runs.push({ start, end });
  }
  return runs;
}

function copyOf(memory: ArrayBuffer, runs: readonly Run[]): MemorySource {
  // The system allocates no memory for the parts that are not written.
  const copy = Buffer.alloc(memory.byteLength);
  for (const { start, end } of runs) Buffer.from(memory, start, end - start).copy(copy, start);
  return {
    length: copy.length,
    read: (target, start) => {
      copy.copy(target, 0, start, start + target.length);
    },
  };
}

function findChanges(memory: ArrayBuffer, runs: readonly Run[], source: MemorySource): Uint32Array {
  const changes: number[] = [];
  const chunk = Buffer.alloc(CHUNK_BYTES);
  for (const run of runs) {
    for (let start = run.start; start < run.end; start += CHUNK_BYTES) {
      const now = Buffer.from(memory, start, Math.min(CHUNK_BYTES, run.end - start));
      const earlier = chunk.subarray(0, now.length);
      source.read(earlier, start);
      addChanges(changes, now, earlier);
    }
  }
  return Uint32Array.from(changes);
}

function addChanges(changes: number[], now: Buffer, earlier: Buffer): void {
  for (let at = 0; at < now.length; at += PART_BYTES) {
    const end = at + PART_BYTES;
    if (now.compare(earlier, at, end, at, end) === 0) continue;
    const earlierWords = wordsOf(earlier, at);
    const first = (now.byteOffset + at) / WORD_BYTES;
    wordsOf(now, at).forEach((word, index) => {
      if (word !== earlierWords[index]) changes.push(first + index, word);
    });
  }
}

function wordsOf(chunk: Buffer, at: number): Uint32Array {
  return new Uint32Array(chunk.buffer, chunk.byteOffset + at, PART_BYTES / WORD_BYTES);
}

function clear(memory: Buffer, from: number, to: number): void {
  for (let start = from; start < to; start += CHUNK_BYTES) {
    const chunk = memory.subarray(start, Math.min(start + CHUNK_BYTES, to));
    if (!isZero(chunk)) chunk.fill(0);
  }
}

function isZero(chunk: Buffer): boolean {
  return chunk.equals(chunk.length === CHUNK_BYTES ? ZEROS : ZEROS.subarray(0, chunk.length));
}
