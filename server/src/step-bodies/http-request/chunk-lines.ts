/**
 * The lines between the chunks of a body, as servers write them, rewritten as the strict parser of the HTTP client expects
 * them: without extensions, blanks and trailer, which nobody reads, and with full line ends. Blanks after a size are common.
 *
 * From a line on that makes no sense, everything stays as it is: the parser says what is wrong.
 */
const LINE_BYTES_MAX = 8 * 1024;
const TRAILER_BYTES_MAX = 64 * 1024;
const LINE_FEED = 0x0a;

/** 13 digits are exact numbers. */
const SIZE_LINE = /^[ \t]*0*([0-9a-f]{1,13})[ \t]*(?:;.*)?$/i;

export class ChunkLines {
  #expected: 'size' | 'data' | 'end of data' | 'trailer' | 'anything' = 'size';
  #dataLeft = 0;
  #line = '';
  #trailerBytes = 0;

  pass(bytes: Buffer): Buffer {
    const passed: Buffer[] = [];
    for (let at = 0; at < bytes.length;) {
      const end = this.#endOfPart(bytes, at);
      const part = bytes.subarray(at, end);
      at = end;
      if (this.#expected === 'anything') passed.push(part);
      else if (this.#expected === 'data') passed.push(this.#readData(part));
      else passed.push(this.#readLine(part));
    }
    return Buffer.concat(passed);
  }

  #endOfPart(bytes: Buffer, at: number): number {
    if (this.#expected === 'anything') return bytes.length;
    if (this.#expected === 'data') return Math.min(at + this.#dataLeft, bytes.length);
    const feed = bytes.indexOf(LINE_FEED, at);
    return feed === -1 ? bytes.length : feed + 1;
  }

  #readData(part: Buffer): Buffer {
    this.#dataLeft -= part.length;
    if (this.#dataLeft === 0) this.#expected = 'end of data';
    return part;
  }

  #readLine(part: Buffer): Buffer {
    this.#line += part.toString('latin1');
    const isComplete = part.at(-1) === LINE_FEED;
    if (!isComplete && this.#line.length <= LINE_BYTES_MAX) return Buffer.alloc(0);
    const raw = this.#line;
    this.#line = '';
    const rewritten = isComplete ? this.#rewrite(raw.replace(/\r?\n$/, '')) : null;
    if (rewritten === null) this.#expected = 'anything';
    return Buffer.from(rewritten ?? raw, 'latin1');
  }

  /** Null: it makes no sense. */
  #rewrite(line: string): string | null {
    switch (this.#expected) {
      case 'size': {
        const [, digits] = SIZE_LINE.exec(line) ?? [];
        if (digits === undefined) return null;
        this.#dataLeft = Number.parseInt(digits, 16);
        this.#expected = this.#dataLeft === 0 ? 'trailer' : 'data';
        return `${digits}\r\n`;
      }
      case 'end of data':
        this.#expected = 'size';
        return line === '' ? '\r\n' : null;
      case 'trailer':
        this.#trailerBytes += line.length;
        if (this.#trailerBytes > TRAILER_BYTES_MAX) return null;
        if (line !== '') return '';
        this.#expected = 'anything';
        return '\r\n';
      case 'data':
      case 'anything':
        return null;
    }
  }
}
