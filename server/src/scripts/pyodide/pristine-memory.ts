/**
 * A copy of an interpreter's memory, and how it is restored.
 *
 * Almost half of the memory is zero. Pages of zeros are neither copied nor written, because the system allocates no
 * memory for a page that was never written.
 */
const CHUNK_BYTES = 16_384;
const ZEROS = Buffer.alloc(CHUNK_BYTES);

interface Run {
  readonly start: number;
  readonly bytes: Buffer;
}

export class PristineMemory {
  /** The parts that are not zero, in order. */
  readonly #runs: readonly Run[];

  constructor(memory: ArrayBuffer) {
    this.#runs = findRuns(memory).map(({ start, end }) => ({
      start,
      bytes: Buffer.from(memory.slice(start, end)),
    }));
  }

  /** Restores the memory. If it has grown in the meantime, the added part is cleared. */
  restore(memory: ArrayBuffer): void {
    const target = Buffer.from(memory);
    let restored = 0;
    for (const { start, bytes } of this.#runs) {
      clear(target, restored, start);
      bytes.copy(target, start);
      restored = start + bytes.length;
    }
    clear(target, restored, target.length);
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

  /** The destination, available once the module has been instantiated. */
  target: () => ArrayBuffer = () => {
    throw new Error('The snapshot has no target yet');
  };

  override subarray(start?: number, end?: number): Uint8Array<ArrayBuffer> {
    const part = super.subarray(start, end);
    // Only the memory extends to the end.
    if (end !== undefined) return part;
    const image = Buffer.from(part.buffer, part.byteOffset, part.length);
    const target = Buffer.from(this.target());
    for (let offset = 0; offset < image.length; offset += CHUNK_BYTES) {
      const chunk = image.subarray(offset, offset + CHUNK_BYTES);
      if (isZero(chunk)) clear(target, offset, offset + chunk.length);
      else chunk.copy(target, offset);
    }
    return new Uint8Array(0);
  }
}

function findRuns(memory: ArrayBuffer): { start: number; end: number }[] {
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

function clear(memory: Buffer, from: number, to: number): void {
  for (let start = from; start < to; start += CHUNK_BYTES) {
    const chunk = memory.subarray(start, Math.min(start + CHUNK_BYTES, to));
    if (!isZero(chunk)) chunk.fill(0);
  }
}

function isZero(chunk: Buffer): boolean {
  return chunk.equals(chunk.length === CHUNK_BYTES ? ZEROS : ZEROS.subarray(0, chunk.length));
}
