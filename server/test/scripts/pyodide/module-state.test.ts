/**
 * SI2: the state that an interpreter keeps outside its linear memory is known, and no call changes it for the next one.
 *
 * First the module itself: which instructions could write there. Then attacks on a sealed interpreter with ctypes,
 * which call the functions that do, like an attacker who has taken over a function pointer.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { findPyodideFolder, RUNNER_PATH } from '../../../src/scripts/pyodide/child-command.js';
import { PristineReferences } from '../../../src/scripts/pyodide/pristine-references.js';
import { bootPython } from '../../../src/scripts/pyodide/boot-python.js';
import type { PythonExports } from '../../../src/scripts/pyodide/pyodide-module.js';
import { SealedInterpreter } from '../../../src/scripts/pyodide/sealed-interpreter.js';
import { readModule, type ModuleState } from './support/read-module.js';

describe('the module of Pyodide', () => {
  let state: ModuleState;
  beforeAll(() => {
    state = readModule(readFileSync(join(findPyodideFolder(), 'pyodide.asm.wasm')));
  });

  const writers = (instruction: string): string[] =>
    [...(state.writes.get(instruction) ?? [])].sort();

  it('is read to the last instruction', () => {
    expect(state.instructions).toBeGreaterThan(2_000_000);
  });

  it('has one table of functions, which it does not modify, and two of references', () => {
    expect(state.tables).toEqual([
      { holds: 'functions', name: '__indirect_function_table' },
      { holds: 'references', name: '' },
      { holds: 'references', name: '' },
    ]);
    const all = [...state.writes.keys()].filter((write) => /^(table|elem|data|memory)/.test(write));
    expect(all.sort()).toEqual(['table.grow 1', 'table.grow 2', 'table.set 2']);
    expect(writers('table.grow 1')).toEqual(['_hiwire_immortal_add']);
    expect(writers('table.grow 2')).toEqual(['_hiwire_immortal_table_init', '_hiwire_set']);
    expect(writers('table.set 2')).toEqual(['_hiwire_delete', '_hiwire_set']);
  });

  it('modifies four globals: the stack pointer, its two limits, and half of a result', () => {
    const written = [...state.writes.keys()].filter((write) => write.startsWith('global.set'));
    const [stack, ...others] = written.sort((a, b) => writers(b).length - writers(a).length);
    expect(writers(stack!).length).toBeGreaterThan(1000);
    const limits = ['emscripten_stack_init', 'emscripten_stack_set_limits'];
    expect(others.map(writers)).toEqual([limits, limits, ['setTempRet0']]);
  });
});

describe('a sealed interpreter', () => {
  /** The part of a reference's entry in memory that counts: others may have found the same object. */
  const SHARED_BIT = 2;
  /** Gives every script ctypes. */
  const RUNNER = `${readFileSync(RUNNER_PATH, 'utf8')}
import ctypes
_SCRIPT_BUILTINS.clear()
_SCRIPT_BUILTINS.update(vars(builtins))
def finish():
    pass
`;
  let interpreter: SealedInterpreter;
  let python: PythonExports;
  /** Beyond its interface: the functions that hold the state. */
  let exported: (name: string) => (...parameters: readonly unknown[]) => unknown;
  let functions: { grow(by: number): void };
  let memory: () => Uint32Array;

  beforeAll(async () => {
    const options = {
      pyodideFolder: findPyodideFolder(),
      runner: RUNNER,
      snapshot: null,
      environment: {},
      memoryLimitBytes: 160 << 20,
      resultLimitBytes: 2 << 20,
      outputLimitBytes: 1 << 16,
      recursionMax: 1000,
    };
    const booted = await bootPython(options);
    interpreter = new SealedInterpreter(booted, options);
    python = booted.exports;
    // The test of the boundary must look behind it.
    const exports = python as unknown as {
      readonly [name: string]: (...parameters: readonly unknown[]) => unknown;
    } & { readonly __indirect_function_table: never; readonly memory: never };
    exported = (name) => exports[name]!;
    functions = exports.__indirect_function_table;
    memory = () => new Uint32Array((exports.memory as { buffer: ArrayBuffer }).buffer);
  }, 120_000);

  function call(source: string): { outcome: string; text: string } {
    const request = Buffer.from(JSON.stringify({ kind: 'script', source }));
    const reply = interpreter.call({ request, variables: Buffer.from('{}'), pure: false });
    interpreter.restoreIfChanged();
    return { outcome: reply.outcome, text: reply.result.toString() };
  }

  /** The place in memory with the owner of each reference. */
  function addressOfSlots(): number {
    const infos = Array.from(
      { length: 8 },
      (_, slot) => (exported('_hiwire_slot_info')(slot) as number) >>> 0,
    );
    const words = memory();
    const found = words.findIndex((_, at) =>
      infos.every((info, slot) => words[at + slot] === info),
    );
    expect(found).toBeGreaterThan(0);
    return 4 * found;
  }

  const NOTHING = { outcome: 'answered', text: '{"names":["x"],"unchanged":[]}\n1' };

  it('responds as before after code that changed nothing', () => {
    expect(call('x = 1')).toEqual(NOTHING);
    exported('setTempRet0')(5);
    expect(call('x = 1')).toEqual(NOTHING);
    expect(exported('getTempRet0')()).toBe(0);
  });

  it('detects a reference that Python removed, and is discarded', () => {
    const before = Array.from({ length: 8 }, (_, slot) => exported('_hiwire_get')(slot));
    // Code that writes to memory can pretend that a reference belongs only to a proxy, which is then released.
    const { outcome, text } = call(`
import ctypes as _ctypes
for _slot in range(1, 8):
  _info = _ctypes.c_uint32.from_address(${addressOfSlots()} + 4 * _slot)
  _info.value &= ~${SHARED_BIT}
_gc = [_c for _c in ().__class__.__base__.__subclasses__() if _c.__name__ == "BuiltinImporter"][0].load_module("gc")
_gc.unfreeze()
_proxies = [_o for _o in _gc.get_objects() if type(_o).__name__ == "JsFinder"][0].jsproxies
_proxies.clear()
x = 1
`);
    expect(outcome).toBe('broken');
    expect(text).toMatch(/^reference \d has changed$/);
    const after = Array.from({ length: 8 }, (_, slot) => exported('_hiwire_get')(slot));
    const removed = after.map((value, slot) => value !== before[slot]);
    expect(removed).toContain(true);
    // The memory is unchanged, but the next call would run on a different interpreter.
    expect(call('x = 1').outcome).toBe('broken');
    for (const [slot, value] of before.entries()) exported('_hiwire_set')(slot, value);
    expect(call('x = 1')).toEqual(NOTHING);
  });

  it.each([
    ['removed', 2, null],
    ['replaced by another', 3, 'another'],
  ])('detects a reference that was %s', (_, slot, value) => {
    const before = exported('_hiwire_get')(slot);
    exported('_hiwire_set')(slot, value);
    expect(call('x = 1')).toEqual({ outcome: 'broken', text: `reference ${slot} has changed` });
    exported('_hiwire_set')(slot, before);
    expect(call('x = 1')).toEqual(NOTHING);
  });

  it('detects that the stack limits were changed', () => {
    const base = exported('emscripten_stack_get_base')() as number;
    const end = exported('emscripten_stack_get_end')() as number;
    exported('emscripten_stack_set_limits')(base, end - 16);
    const text = 'the limits of the stack were moved';
    expect(call('x = 1')).toEqual({ outcome: 'broken', text });
    exported('emscripten_stack_set_limits')(base, end);
    expect(call('x = 1')).toEqual(NOTHING);
  });

  it('detects the smallest growth of its tables', () => {
    exported('_hiwire_immortal_add')('another');
    expect(call('x = 1')).toEqual({ outcome: 'broken', text: 'a table of references has grown' });
    const now = new PristineReferences(python);
    expect(now.findChange()).toBeNull();
    exported('_hiwire_set')(8, 'one more');
    expect(now.findChange()).toBe('a table of references has grown');
    const then = new PristineReferences(python);
    expect(then.findChange()).toBeNull();
    functions.grow(1);
    expect(then.findChange()).toBe('the table of functions has grown');
  });
});
