/** The few host functions that Python can call accept any numbers: nothing outside its memory is read or written. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  createGuestCalls,
  GuestMoment,
  PrintedText,
} from '../../../src/scripts/pyodide/guest-calls.js';
import type { PythonExports, WasmMemory } from '../../../src/scripts/pyodide/pyodide-module.js';
import { propertyRuns } from '../../support/property-runs.js';

declare const WebAssembly: {
  readonly Memory: new (limits: { initial: number; maximum: number }) => WasmMemory;
};

const PAGE = 65_536;

function create(limitBytes = 4 * PAGE) {
  const memory = new WebAssembly.Memory({ initial: 1, maximum: 100 });
  const output = new PrintedText(10);
  const moment = new GuestMoment();
  const denied: string[] = [];
  const calls = createGuestCalls({
    exports: () => ({ memory }) as PythonExports,
    memoryLimitBytes: limitBytes,
    output,
    moment,
    onDenied: (name) => denied.push(name),
  });
  const call = (name: string, ...parameters: unknown[]): unknown =>
    calls.get(name)!(...(parameters as never[]));
  return {
    memory,
    moment,
    output,
    denied,
    call,
    view: () => new DataView(memory.buffer),
    names: [...calls.keys()],
  };
}

describe('the set of guest calls', () => {
  it('shows the time and the random numbers of a call that can be repeated, and those of the machine otherwise', () => {
    const { call, memory, moment } = create();
    const look = (): readonly unknown[] => {
      call('random_get', 64, 8);
      return [call('emscripten_date_now'), [...new Uint8Array(memory.buffer, 64, 8)]];
    };
    const time = 1_800_000_000_000;
    moment.set({ time, seed: 7 });
    const first = look();
    const later = look();
    moment.set({ time, seed: 7 });
    expect(look()).toEqual(first);
    expect(later).not.toEqual(first);
    expect(Math.floor(Number(first[0]))).toBe(time);
    moment.set({ time, seed: 8 });
    expect(look()[1]).not.toEqual(first[1]);
    moment.set(null);
    expect(call('emscripten_date_now')).not.toBeCloseTo(time, -3);
    expect(look()[1]).not.toEqual(look()[1]);
  });

  it('has only 15 members', () => {
    expect(create().names).toHaveLength(15);
  });

  it('grows the memory up to the limit but not beyond', () => {
    const { memory, call } = create();
    expect(call('emscripten_resize_heap', 2 * PAGE)).toBe(1);
    expect(memory.buffer.byteLength).toBe(2 * PAGE);
    expect(call('emscripten_resize_heap', 5 * PAGE)).toBe(0);
    expect(call('emscripten_resize_heap', -1)).toBe(0);
    expect(call('emscripten_resize_heap', 4 * PAGE)).toBe(1);
    expect(memory.buffer.byteLength).toBe(4 * PAGE);
    expect(call('emscripten_get_heap_max')).toBe(4 * PAGE);
  });

  it('writes random bytes only into valid memory', () => {
    const { memory, call } = create();
    expect(call('random_get', 8, 16)).toBe(0);
    expect(new Uint8Array(memory.buffer, 8, 16).some((byte) => byte !== 0)).toBe(true);
    expect(call('random_get', PAGE - 8, 16)).toBe(28);
    expect(call('random_get', -8, 16)).toBe(28);
    expect(call('random_get', 0, 2 ** 30)).toBe(28);
  });

  it('prints to standard output and error, up to a limit', () => {
    const { memory, output, denied, call, view } = create();
    new Uint8Array(memory.buffer).set(Buffer.from('hello world'), 100);
    view().setUint32(0, 100, true);
    view().setUint32(4, 5, true);
    view().setUint32(8, 105, true);
    view().setUint32(12, 6, true);
    expect(call('fd_write', 1, 0, 2, 64)).toBe(0);
    expect(view().getUint32(64, true)).toBe(11);
    expect(output.take().toString()).toBe('hello worl');
    expect(call('fd_write', 3, 0, 1, 64)).toBe(2);
    expect(denied).toEqual(['fd_write']);
  });

  it('rejects strings that extend beyond the memory', () => {
    const { output, call, view } = create();
    view().setUint32(0, PAGE - 1, true);
    view().setUint32(4, 2 ** 32 - 1, true);
    expect(call('fd_write', 1, 0, 1, 64)).toBe(28);
    expect(output.take()).toHaveLength(0);
  });

  it.each<[number, readonly number[]]>([
    [0, [0, 0, 0, 1, 0, 70, 4, 0]],
    [1_709_210_096, [56, 34, 12, 29, 1, 124, 4, 59]],
    [-62_135_596_800, [0, 0, 0, 1, 0, -1899, 1, 0]],
    [253_402_300_799, [59, 59, 23, 31, 11, 8099, 5, 364]],
  ])('breaks down the time %d as C does', (seconds, expected) => {
    const { call, view } = create();
    call('_gmtime_js', BigInt(seconds), 128);
    expect(expected.map((_, word) => view().getInt32(128 + 4 * word, true))).toEqual(expected);
    expect(call('_timegm_js', 128)).toBe(BigInt(seconds));
    call('_localtime_js', BigInt(seconds), 256);
    expect(expected.map((_, word) => view().getInt32(256 + 4 * word, true))).toEqual(expected);
  });

  it('returns or throws RangeError, whatever the arguments', () => {
    const number = fc.oneof(
      fc.integer(),
      fc.constantFrom(0, -1, PAGE, PAGE - 1, 2 ** 31, -(2 ** 31), NaN, 1.5),
    );
    const { call, names } = create();
    const plain = names.filter(
      (name) => !['_PyEM_TrampolineCall_JS', '_gmtime_js', '_localtime_js'].includes(name),
    );
    fc.assert(
      fc.property(
        fc.constantFrom(...plain),
        fc.array(number, { minLength: 4, maxLength: 4 }),
        (name, parameters) => {
          try {
            call(name, ...parameters);
          } catch (error) {
            expect(error).toBeInstanceOf(RangeError);
          }
        },
      ),
      propertyRuns(2000),
    );
    fc.assert(
      fc.property(fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n), (seconds) => {
        call('_gmtime_js', seconds, 128);
        call('_localtime_js', seconds, 128);
      }),
    );
  });
});
