/**
 * Reads the instructions of a WebAssembly module, as far as needed to know its state outside its linear memory and
 * which functions write to it.
 */
import { Instructions } from './wasm-instructions.js';

export interface ModuleState {
  /** Of all tables, in order: the position in the list is the index. */
  readonly tables: readonly { readonly holds: 'functions' | 'references'; readonly name: string }[];
  /** For each instruction that writes state outside memory: the functions that contain it. */
  readonly writes: ReadonlyMap<string, ReadonlySet<string>>;
  readonly instructions: number;
}

const SECTION = { import: 2, table: 4, global: 6, export: 7, code: 10 } as const;
const KIND = { function: 0, table: 1, memory: 2, global: 3, tag: 4 } as const;
const FUNCTIONS = 0x70;

export function readModule(bytes: Buffer): ModuleState {
  const at = new Instructions(bytes, 8);
  const tables: { holds: 'functions' | 'references'; name: string }[] = [];
  const names = new Map<number, string>();
  const bodies: { start: number; end: number }[] = [];
  let importedFunctions = 0;
  const addTable = (): void => {
    tables.push({ holds: at.valueType() === FUNCTIONS ? 'functions' : 'references', name: '' });
    at.limits();
  };
  const skipGlobal = (): void => {
    at.valueType();
    at.byte();
  };
  const readers: Readonly<Record<number, () => void>> = {
    [SECTION.import]: () => {
      at.name();
      at.name();
      const kind = at.byte();
      if (kind === KIND.function) importedFunctions += 1;
      if (kind === KIND.function) at.number();
      else if (kind === KIND.table) addTable();
      else if (kind === KIND.memory) at.limits();
      else if (kind === KIND.global) skipGlobal();
      else at.skip(1, 1);
    },
    [SECTION.table]: addTable,
    [SECTION.global]: () => {
      skipGlobal();
      at.skipExpression();
    },
    [SECTION.export]: () => {
      const name = at.name();
      const kind = at.byte();
      const index = at.number();
      if (kind === KIND.function) names.set(index, name);
      if (kind === KIND.table) tables[index]!.name = name;
    },
    [SECTION.code]: () => {
      const length = at.number();
      bodies.push({ start: at.position, end: at.position + length });
      at.position += length;
    },
  };
  while (at.position < bytes.length) {
    const section = at.byte();
    const end = at.number() + at.position;
    const read = readers[section];
    if (read !== undefined) for (let left = at.number(); left > 0; left -= 1) read();
    at.position = end;
  }
  const writes = new Map<string, Set<string>>();
  let instructions = 0;
  for (const [index, { end, start }] of bodies.entries()) {
    const place = importedFunctions + index;
    const name = names.get(place) ?? `function ${place}`;
    at.position = start;
    instructions += at.readBody(end, (instruction) => {
      writes.set(instruction, (writes.get(instruction) ?? new Set()).add(name));
    });
  }
  return { tables, writes, instructions };
}
