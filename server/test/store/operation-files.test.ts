/** Each operation has a file of the same name in every store, so that its file in one store leads to those in the others. */
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { STORE_OPERATION_KINDS } from '../../src/store/store-operations.js';

const STORE = path.join(import.meta.dirname, '../../src/store');

/** The folders of each store's operations. SQLite and PostgreSQL share those in sql/. */
const FOLDERS: Readonly<Record<string, readonly string[]>> = {
  memory: ['memory'],
  mongo: ['mongo'],
  postgres: ['postgres', 'sql'],
  sqlite: ['sqlite/statements', 'sql'],
};

/** These concern the store as a whole, so each store has them in its table of operations. */
const OF_THE_STORE = ['ping', 'probeAtomicity'];

const OPERATIONS = Object.keys(STORE_OPERATION_KINDS).filter(
  (name) => !OF_THE_STORE.includes(name),
);

describe('each store', () => {
  it('defines each operation in files of the same name as the other stores', async () => {
    const stores = await Promise.all(Object.values(FOLDERS).map(filesOf));
    const places = OPERATIONS.map((name) => stores.map((files) => files.get(name) ?? []));
    const scattered = OPERATIONS.filter((_name, at) => {
      const [first = [], ...others] = places[at] ?? [];
      return first.length !== 1 || others.some((files) => String(files) !== String(first));
    });
    expect(scattered).toEqual([]);
  });
});

/** The names of the files that define each operation. */
async function filesOf(folders: readonly string[]): Promise<ReadonlyMap<string, string[]>> {
  const found = new Map<string, string[]>();
  for (const folder of folders) {
    for (const file of readdirSync(path.join(STORE, folder))) {
      // The tables gather the operations of the other files.
      if (!file.endsWith('.ts') || /^(?:operation-table|operations)\.ts$/.test(file)) continue;
      for (const name of operationsIn(await exportsOf(path.join(STORE, folder, file)))) {
        const base = path.basename(file, '.ts');
        found.set(name, [...new Set([...(found.get(name) ?? []), base])]);
      }
    }
  }
  return found;
}

async function exportsOf(file: string): Promise<Readonly<Record<string, unknown>>> {
  // A module is an object of its exports.
  return (await import(file)) as Readonly<Record<string, unknown>>;
}

/** Functions of these names, or members of an exported group of operations. */
function operationsIn(exports: Readonly<Record<string, unknown>>): readonly string[] {
  const names = Object.entries(exports).flatMap(([name, value]) =>
    typeof value === 'object' && value !== null && name.endsWith('_OPERATIONS')
      ? Object.keys(value)
      : [name],
  );
  return OPERATIONS.filter((name) => names.includes(name));
}
