/**
 * The file of a snapshot, which an interpreter keeps open: it boots from it, and reads most of its pristine memory from
 * it again. The system has the file in its cache, where all interpreters share it.
 *
 * An open file stays readable if it is replaced or deleted. If it is overwritten in place, the next read fails, and so the
 * interpreter ends.
 */
import { fstatSync, openSync, readSync } from 'node:fs';
import type { MemorySource } from './pristine-memory.js';

export class SnapshotFile {
  readonly #descriptor: number;
  readonly #version: string;
  readonly #size: number;

  /** @throws Error if it cannot be opened */
  constructor(path: string) {
    this.#descriptor = openSync(path, 'r');
    this.#version = this.#readVersion();
    this.#size = fstatSync(this.#descriptor).size;
  }

  readWhole(): Buffer<ArrayBuffer> {
    const content = Buffer.allocUnsafeSlow(this.#size);
    this.#read(content, 0);
    return content;
  }

  /** The part of the file from `offset` to its end, as a memory. */
  memoryAt(offset: number): MemorySource {
    return {
      length: this.#size - offset,
      read: (target, start) => this.#read(target, offset + start),
    };
  }

  #read(target: Buffer, position: number): void {
    let done = 0;
    while (done < target.length) {
      const left = target.length - done;
      const bytes = readSync(this.#descriptor, target, done, left, position + done);
      if (bytes === 0) throw new Error('the file of the snapshot has become shorter');
      done += bytes;
    }
    // Writing changes the time before the content, so content that was read before this check is the original.
    if (this.#readVersion() !== this.#version)
      throw new Error('the file of the snapshot has changed');
  }

  #readVersion(): string {
    const { mtimeMs, size } = fstatSync(this.#descriptor);
    return `${mtimeMs} ${size}`;
  }
}
