/**
 * The host functions that Python can reach once it is sealed: memory up to a limit, clocks, random bytes, and bounded
 * output. Nothing here touches files, the network, the environment or the process.
 *
 * Each function treats its parameters as hostile: pointers and lengths are checked against the memory before use. Each
 * call creates new views of the memory, because growing the memory detaches existing views.
 */
import { randomFillSync } from 'node:crypto';
import type { CallMoment } from './frames.js';
import type { HostFunction, Pointer, PythonExports } from './pyodide-module.js';

const WASI_OK = 0;
const WASI_EACCES = 2;
const WASI_EINVAL = 28;
const CLOCK_REALTIME = 0;
const NANOSECONDS_PER_MS = 1e6;
const WASM_PAGE_BYTES = 65_536;
const MAX_RANDOM_BYTES = 1 << 20;
const MAX_WRITE_VECTORS = 64;
const MS_PER_DAY = 86_400_000;

/** Field offsets of C's `struct tm` in 32-bit words. */
const TM_IS_DST = 8;
const TM_UTC_OFFSET = 9;

/** How far the clock of a repeatable call moves with each reading, so that code that waits for a time gets there. */
const READING_MS = 0.001;

/** The clock and the random numbers of the current call: the machine's, or those of a moment. */
export class GuestMoment {
  // Captured now: nothing that happens later in this process can replace these functions.
  readonly #wallClock = Date.now;
  readonly #monotonic = performance.now.bind(performance);
  #moment: CallMoment | null = null;
  #state = 0;
  #readings = 0;

  set(moment: CallMoment | null): void {
    this.#moment = moment;
    this.#state = moment?.seed ?? 0;
    this.#readings = 0;
  }

  wallTime(): number {
    return this.#moment === null ? this.#wallClock() : this.#moment.time + this.#passedMs();
  }

  steadyTime(): number {
    return this.#moment === null ? this.#monotonic() : this.#passedMs();
  }

  fillRandom(bytes: Uint8Array): void {
    if (this.#moment === null) randomFillSync(bytes);
    else for (let at = 0; at < bytes.length; at += 1) bytes[at] = this.#nextByte();
  }

  #passedMs(): number {
    this.#readings += 1;
    return this.#readings * READING_MS;
  }

  /** mulberry32 */
  #nextByte(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) & 0xff;
  }
}

export interface GuestCallOptions {
  /** The exports, available once the module has been instantiated. */
  readonly exports: () => PythonExports;
  readonly memoryLimitBytes: number;
  readonly moment: GuestMoment;
  /** Receives printed text; copies nothing beyond its limit. */
  readonly output: PrintedText;
  /** Called for writes to files other than standard output. */
  readonly onDenied: (name: string) => void;
}

/** The text that the guest printed during one call, up to a limit. */
export class PrintedText {
  #chunks: Buffer[] = [];
  #bytes = 0;

  readonly #limitBytes: number;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  append(text: Uint8Array): void {
    const kept = Math.min(text.length, this.#limitBytes - this.#bytes);
    if (kept <= 0) return;
    this.#chunks.push(Buffer.from(text.subarray(0, kept)));
    this.#bytes += kept;
  }

  take(): Buffer {
    const text = Buffer.concat(this.#chunks);
    this.#chunks = [];
    this.#bytes = 0;
    return text;
  }
}

export function createGuestCalls(options: GuestCallOptions): ReadonlyMap<string, HostFunction> {
  const calls: Record<string, HostFunction> = {
    ...memoryCalls(options),
    ...timeCalls(options),
    ...calendarCalls(options.exports),
    fd_write: (file: number, vectors: Pointer, count: number, written: Pointer) =>
      writeOutput(options, file, { vectors: vectors >>> 0, count: count >>> 0, written }),
    _Py_CheckEmscriptenSignals_Helper: () => 0,
    _PyEM_TrampolineCall_JS: trampoline(options.exports),
  };
  return new Map(Object.entries(calls));
}

/** Calls a WebAssembly function from another one through the table, which contains gates in place of host functions. */
function trampoline(exports: () => PythonExports): HostFunction {
  type TableFunction = (self: number, args: number, keywords: number) => number;
  const known: TableFunction[] = [];
  return (index: number, self: number, args: number, keywords: number) => {
    // The table contains only functions; an empty slot throws, which ends the call.
    known[index] ??= exports().__indirect_function_table.get(index) as TableFunction;
    return known[index](self, args, keywords);
  };
}

function memoryCalls({
  exports,
  memoryLimitBytes,
  moment,
}: GuestCallOptions): Record<string, HostFunction> {
  return {
    emscripten_get_heap_max: () => memoryLimitBytes,
    emscripten_resize_heap: (requested: number) => {
      const wanted = requested >>> 0;
      if (wanted > memoryLimitBytes) return 0;
      const { memory } = exports();
      const current = memory.buffer.byteLength;
      const target = Math.min(memoryLimitBytes, Math.max(wanted, current + (current >> 3)));
      try {
        memory.grow(Math.ceil((target - current) / WASM_PAGE_BYTES));
        return 1;
      } catch {
        // The host has no more memory; Python raises MemoryError.
        return 0;
      }
    },
    random_get: (pointer: Pointer, length: number) => {
      const { buffer } = exports().memory;
      const [start, bytes] = [pointer >>> 0, length >>> 0];
      if (bytes > MAX_RANDOM_BYTES || start + bytes > buffer.byteLength) return WASI_EINVAL;
      moment.fillRandom(new Uint8Array(buffer, start, bytes));
      return WASI_OK;
    },
  };
}

function timeCalls({ exports, moment }: GuestCallOptions): Record<string, HostFunction> {
  const writeNanoseconds = (pointer: Pointer, value: bigint): number => {
    new DataView(exports().memory.buffer).setBigInt64(pointer >>> 0, value, true);
    return WASI_OK;
  };
  return {
    clock_time_get: (clock: number, _precision: bigint, pointer: Pointer) => {
      const now = clock === CLOCK_REALTIME ? moment.wallTime() : moment.steadyTime();
      return writeNanoseconds(pointer, BigInt(Math.round(now * NANOSECONDS_PER_MS)));
    },
    clock_res_get: (_clock: number, pointer: Pointer) => writeNanoseconds(pointer, 1000n),
    emscripten_get_now: () => moment.steadyTime(),
    emscripten_date_now: () => moment.wallTime(),
  };
}

/** The guest runs in UTC, regardless of the server's time zone. */
function calendarCalls(exports: () => PythonExports): Record<string, HostFunction> {
  const memory = (): DataView => new DataView(exports().memory.buffer);
  const writeBrokenDown = (seconds: bigint, target: Pointer): void => {
    const view = memory();
    const time = new Date(Number(seconds) * 1000);
    brokenDownTime(time).forEach((field, word) => {
      view.setInt32((target >>> 0) + 4 * word, field, true);
    });
  };
  const normalize = (pointer: Pointer): bigint => {
    const view = memory();
    const field = (word: number): number => view.getInt32((pointer >>> 0) + 4 * word, true);
    const time = new Date(0);
    time.setUTCFullYear(field(5) + 1900, field(4), field(3));
    time.setUTCHours(field(2), field(1), field(0));
    if (Number.isNaN(time.getTime())) return -1n;
    const seconds = BigInt(Math.floor(time.getTime() / 1000));
    writeBrokenDown(seconds, pointer);
    view.setInt32((pointer >>> 0) + 4 * TM_IS_DST, 0, true);
    return seconds;
  };
  return {
    _gmtime_js: writeBrokenDown,
    _localtime_js: (seconds: bigint, target: Pointer) => {
      writeBrokenDown(seconds, target);
      memory().setInt32((target >>> 0) + 4 * TM_IS_DST, 0, true);
      memory().setInt32((target >>> 0) + 4 * TM_UTC_OFFSET, 0, true);
    },
    _timegm_js: normalize,
    _mktime_js: normalize,
    _tzset_js: () => undefined,
  };
}

function brokenDownTime(time: Date): readonly number[] {
  const year = time.getUTCFullYear();
  const newYear = new Date(0);
  newYear.setUTCFullYear(year, 0, 1);
  const fields = [
    time.getUTCSeconds(),
    time.getUTCMinutes(),
    time.getUTCHours(),
    time.getUTCDate(),
    time.getUTCMonth(),
    year - 1900,
    time.getUTCDay(),
    (time.getTime() - newYear.getTime()) / MS_PER_DAY,
  ];
  // A date outside JavaScript's range has NaN fields, which become 0.
  return fields.map((field) => Math.floor(field) | 0);
}

interface WriteRequest {
  readonly vectors: Pointer;
  readonly count: number;
  readonly written: Pointer;
}

function writeOutput(options: GuestCallOptions, file: number, request: WriteRequest): number {
  if (file !== 1 && file !== 2) {
    options.onDenied('fd_write');
    return WASI_EACCES;
  }
  const { buffer } = options.exports().memory;
  const view = new DataView(buffer);
  let bytes = 0;
  for (let index = 0; index < Math.min(request.count, MAX_WRITE_VECTORS); index += 1) {
    const start = view.getUint32(request.vectors + 8 * index, true);
    const length = view.getUint32(request.vectors + 8 * index + 4, true);
    if (start + length > buffer.byteLength) return WASI_EINVAL;
    options.output.append(new Uint8Array(buffer, start, length));
    bytes += length;
  }
  view.setUint32(request.written >>> 0, bytes, true);
  return WASI_OK;
}
