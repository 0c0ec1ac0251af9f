/**
 * The state that an interpreter keeps outside its linear memory: the tables of its WebAssembly module, and the limits
 * of its stack.
 *
 * Pyodide's code writes to two tables only, which hold references to objects of the host. Nothing in the module writes
 * to the table of functions, and the host functions that could are closed (test/scripts/pyodide/module-state.test.ts
 * reads every instruction of the module). The two tables are compared, slot by slot, after every call that may have
 * changed them. No ordinary code changes them, so an interpreter that differs is not repaired but discarded.
 */
import type { PythonExports } from './pyodide-module.js';

/** More slots than Pyodide ever uses. */
const MAX_SLOTS = 100_000;

type ReadSlot = (index: number) => unknown;

export class PristineReferences {
  readonly #tables: readonly {
    readonly read: ReadSlot;
    readonly slots: readonly unknown[];
  }[];
  readonly #functions: number;
  readonly #stack: readonly number[];

  readonly #python: PythonExports;

  constructor(python: PythonExports) {
    this.#python = python;
    const readers: readonly ReadSlot[] = [python._hiwire_get, python._hiwire_immortal_get];
    this.#tables = readers.map((read) => ({ read, slots: allSlots(read) }));
    this.#functions = python.__indirect_function_table.length;
    this.#stack = this.#stackLimits();
  }

  /** @returns what has changed; null if nothing has */
  findChange(): string | null {
    for (const { read, slots } of this.#tables) {
      for (let index = 0; index < slots.length; index += 1) {
        if (read(index) !== slots[index]) return `reference ${index} has changed`;
      }
      if (hasSlot(read, slots.length)) return 'a table of references has grown';
    }
    if (this.#python.__indirect_function_table.length !== this.#functions) {
      return 'the table of functions has grown';
    }
    const [base, end] = this.#stackLimits();
    const isSame = base === this.#stack[0] && end === this.#stack[1];
    return isSame ? null : 'the limits of the stack were moved';
  }

  #stackLimits(): readonly number[] {
    return [this.#python.emscripten_stack_get_base(), this.#python.emscripten_stack_get_end()];
  }
}

function allSlots(read: ReadSlot): readonly unknown[] {
  const slots: unknown[] = [];
  while (hasSlot(read, slots.length)) {
    if (slots.length === MAX_SLOTS) throw new Error('A table of references is too long');
    slots.push(read(slots.length));
  }
  return slots;
}

/** The length of a table can only be found by accessing slots until one traps. */
function hasSlot(read: ReadSlot, index: number): boolean {
  try {
    read(index);
    return true;
  } catch {
    return false;
  }
}
