/**
 * Appends lines to a file of gzip members, all or nothing.
 *
 *  AR1 The file is valid gzip at any time, even after a crash: the first byte of a batch stays zero until everything else is on
 *      disk. Readers treat everything after a zero byte as padding. Writing this byte commits the batch. A new file contains
 *      `EMPTY_FILE`.
 *  AR2 A failed batch leaves nothing visible to readers, and the next one overwrites it.
 */
import { once } from 'node:events';
import { createGzip, gzipSync } from 'node:zlib';
import type { OpenFile } from './archive-files.js';

/** The first byte of every gzip member. */
const FIRST_BYTE = 0x1f;

/** A gzip member without content. */
export const EMPTY_FILE: Uint8Array = gzipSync('');

export class ArchiveBatch {
  readonly #file: OpenFile;
  readonly #start: number;
  /** Where the next line begins. */
  #end: number;

  /** @param start the end of the last batch */
  constructor(file: OpenFile, start: number) {
    this.#file = file;
    this.#start = start;
    this.#end = start;
  }

  get isEmpty(): boolean {
    return this.#end === this.#start;
  }

  /**
   * Writes one line as a gzip member. If its text can't be read, the batch continues without it, and the error is returned.
   *
   * @throws Error if the file cannot be written
   */
  async add(text: AsyncIterable<string>): Promise<unknown> {
    const gzip = createGzip();
    const file: { error?: Error } = {};
    const written = this.#write(gzip).catch((error: unknown) => {
      file.error ??= error instanceof Error ? error : new Error(String(error));
      gzip.destroy();
      return this.#end;
    });
    try {
      for await (const piece of text) {
        if (gzip.destroyed) break;
        if (!gzip.write(piece)) await Promise.race([once(gzip, 'drain'), written]);
      }
    } catch (error) {
      if (file.error !== undefined) throw file.error;
      gzip.destroy();
      await written;
      return error;
    }
    if (!gzip.destroyed) gzip.end('\n');
    const end = await written;
    if (file.error !== undefined) throw file.error;
    this.#end = end;
    return null;
  }

  /** Resolves with the end of the member. */
  async #write(gzip: AsyncIterable<Buffer>): Promise<number> {
    let position = this.#end;
    for await (const bytes of gzip) {
      if (position === this.#start) bytes[0] = 0;
      await this.#file.write(bytes, position);
      position += bytes.length;
    }
    return position;
  }

  /** Resolves with the new end of the file when the batch is on the disk. */
  async commit(): Promise<number> {
    await this.#file.truncate(this.#end);
    if (this.isEmpty) return this.#end;
    await this.#file.sync();
    await this.#file.write(Uint8Array.of(FIRST_BYTE), this.#start);
    await this.#file.sync();
    return this.#end;
  }
}
