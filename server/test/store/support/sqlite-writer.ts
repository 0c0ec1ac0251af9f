/**
 * A process that writes to a SQLite store and prints a line for every write that was acknowledged.
 *
 *   sqlite-writer.ts <file> <prefix> <count> <length of the state>
 *
 * Prints `ok <id>` or `failed <error name> <message>`; after `count` writes it stops the store and ends.
 */
import { createSqliteStore } from '../../../src/store/sqlite/sqlite-store.js';
import { instanceOf, NO_SIDE } from '../records.js';

const WRITERS = 8;
const [path = '', prefix = '', count = '0', length = '10'] = process.argv.slice(2);
const store = createSqliteStore({ path });
const state = 'x'.repeat(Number(length));
let next = 0;

async function write(): Promise<void> {
  while (next < Number(count)) {
    const id = `${prefix}${next}`;
    next += 1;
    try {
      await store.insertInstance({ record: instanceOf(id, { state }), side: NO_SIDE });
      await store.insertDefinition(
        { id: 'shared', description: null, body: id, createdAt: 1 },
        null,
      );
      process.stdout.write(`ok ${id}\n`);
    } catch (error) {
      process.stdout.write(`failed ${String(error)}\n`);
    }
  }
}

await store.start();
await Promise.all(Array.from({ length: WRITERS }, write));
await store.stop();
