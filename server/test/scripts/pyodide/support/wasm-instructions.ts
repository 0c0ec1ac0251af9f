/** Reads the binary format of WebAssembly, one instruction after another. Throws for unknown instructions. */

/** The immediates after the code of an instruction: numbers in LEB128, or bytes. */
type Immediate = 'number' | 'memory' | 'block' | 'type' | 'numbers' | 'types' | 'catches' | number;

const NONE: readonly Immediate[] = [];

function immediatesOf(code: number): readonly Immediate[] | undefined {
  const among = (...codes: readonly number[]): boolean => codes.includes(code);
  if (among(0x00, 0x01, 0x05, 0x0a, 0x0b, 0x0f, 0x19, 0x1a, 0x1b, 0xd1, 0xd3, 0xd4)) return NONE;
  if (code >= 0x45 && code <= 0xc4) return NONE;
  if (among(0x02, 0x03, 0x04, 0x06)) return ['block'];
  if (among(0x07, 0x08, 0x09, 0x18, 0x0c, 0x0d, 0x10, 0x12, 0x14, 0x15)) return ['number'];
  if (code === 0x0e) return ['numbers', 'number'];
  if (among(0x11, 0x13)) return ['number', 'number'];
  if (code === 0x1c) return ['types'];
  if (code === 0x1f) return ['block', 'catches'];
  if (code >= 0x20 && code <= 0x26) return ['number'];
  if (code >= 0x28 && code <= 0x3e) return ['memory'];
  if (among(0x3f, 0x40, 0x41, 0x42, 0xd0, 0xd2, 0xd5, 0xd6)) return ['number'];
  if (code === 0x43) return [4];
  if (code === 0x44) return [8];
  return undefined;
}

/** After 0xfc: conversions, and the instructions on whole ranges of memory and tables. */
const BULK: Readonly<Record<number, number>> = {
  ...Object.fromEntries([0, 1, 2, 3, 4, 5, 6, 7].map((code) => [code, 0])),
  8: 2,
  9: 1,
  10: 2,
  11: 1,
  12: 2,
  13: 1,
  14: 2,
  15: 1,
  16: 1,
  17: 1,
};
const BULK_WRITES: Readonly<Record<number, string>> = {
  8: 'memory.init',
  9: 'data.drop',
  12: 'table.init',
  13: 'elem.drop',
  14: 'table.copy',
  15: 'table.grow',
  17: 'table.fill',
};

export class Instructions {
  constructor(
    private readonly bytes: Buffer,
    public position: number,
  ) {}

  byte(): number {
    const byte = this.bytes[this.position];
    if (byte === undefined) throw new Error('the module ends unexpectedly');
    this.position += 1;
    return byte;
  }

  /** Signed numbers are only skipped. */
  number(): number {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = this.byte();
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
  }

  name(): string {
    const length = this.number();
    this.position += length;
    return this.bytes.toString('utf8', this.position - length, this.position);
  }

  valueType(): number {
    const type = this.byte();
    // A reference to a type of the module.
    if (type === 0x63 || type === 0x64) this.number();
    return type;
  }

  limits(): void {
    const flags = this.number();
    this.number();
    if ((flags & 1) === 1) this.number();
  }

  /** Single bytes, then numbers. */
  skip(bytes: number, numbers: number): void {
    this.position += bytes;
    for (let left = numbers; left > 0; left -= 1) this.number();
  }

  /** The value of a global. */
  skipExpression(): void {
    for (let code = this.byte(); code !== 0x0b; code = this.byte()) this.skipImmediates(code);
  }

  /** @returns the number of instructions */
  readBody(end: number, wrote: (instruction: string) => void): number {
    for (let locals = this.number(); locals > 0; locals -= 1) {
      this.number();
      this.valueType();
    }
    let count = 0;
    for (; this.position < end; count += 1) this.readInstruction(wrote);
    if (this.position !== end) throw new Error('an instruction was misread');
    return count;
  }

  private readInstruction(wrote: (instruction: string) => void): void {
    const code = this.byte();
    if (code === 0x24 || code === 0x26) {
      wrote(`${code === 0x24 ? 'global.set' : 'table.set'} ${this.number()}`);
    } else if (code === 0xfc) {
      this.readBulk(wrote);
    } else {
      this.skipImmediates(code);
    }
  }

  private readBulk(wrote: (instruction: string) => void): void {
    const code = this.number();
    const operands = Array.from({ length: BULK[code] ?? -1 }, () => this.number());
    const name = BULK_WRITES[code];
    // `table.init` names its source first, `table.copy` its target.
    if (name !== undefined) wrote(`${name} ${operands[code === 12 ? 1 : 0]}`);
  }

  private skipImmediates(code: number): void {
    const immediates = immediatesOf(code);
    if (immediates === undefined) throw new Error(`unknown instruction 0x${code.toString(16)}`);
    for (const immediate of immediates) this.skipImmediate(immediate);
  }

  private skipImmediate(immediate: Immediate): void {
    if (typeof immediate === 'number') this.position += immediate;
    else if (immediate === 'block' || immediate === 'type') this.valueType();
    else if (immediate === 'numbers') this.skip(0, this.number());
    else if (immediate === 'types') {
      for (let left = this.number(); left > 0; left -= 1) this.valueType();
    } else if (immediate === 'catches') {
      for (let left = this.number(); left > 0; left -= 1) this.skip(0, this.byte() < 2 ? 2 : 1);
    } else if (immediate === 'memory') {
      // One bit says that the index of a memory follows.
      if ((this.number() & 64) === 64) this.number();
      this.number();
    } else this.number();
  }
}
