/**
 * Creates many open runs in a store at little cost: the server itself stores a few, which are then copied in the
 * database under other ids. Starting 200,000 runs over HTTP would take minutes.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { MongoClient } from 'mongodb';

export interface Copies {
  readonly workflowId: string;
  /** The number of runs to create, including the original. */
  readonly count: number;
}

export interface CopiedRuns {
  /** The settings with which a server uses this store. */
  readonly environment: Readonly<Record<string, string>>;
  copy(copies: Copies): Promise<void>;
  /** The number of runs of the definition that are Complete. */
  completed(definitionId: string): Promise<number>;
  remove(): Promise<void>;
}

/** The records of an instance while it waits, each with the member that contains its id. */
const PARTS = { instances: 'id', subscriptions: 'instanceId', activities: 'instanceId' } as const;
const COPIES_AT_ONCE = 2000;

export function copiedRuns(dbhost: string | undefined): Promise<CopiedRuns> {
  return dbhost === undefined ? sqliteRuns() : mongoRuns(dbhost);
}

async function mongoRuns(dbhost: string): Promise<CopiedRuns> {
  const name = `bench_copies_${process.pid}`;
  const client = await MongoClient.connect(dbhost);
  const db = client.db(name);
  return {
    environment: { dbhost, db_name: name },
    async copy({ workflowId, count }) {
      for (const [part, member] of Object.entries(PARTS)) {
        const collection = db.collection<{ _id: string }>(part);
        const found = await collection.findOne({ [member === 'id' ? '_id' : member]: workflowId });
        if (found === null) continue;
        for (let from = 1; from < count; from += COPIES_AT_ONCE) {
          const length = Math.min(COPIES_AT_ONCE, count - from);
          const made = [...copiesOf(found, workflowId, { from, length })];
          await collection.insertMany(made, { ordered: false });
        }
      }
    },
    completed: (definitionId) =>
      db.collection('instances').countDocuments({ definitionId, status: 'Complete' }),
    async remove() {
      await db.dropDatabase();
      await client.close();
    },
  };
}

async function sqliteRuns(): Promise<CopiedRuns> {
  const folder = await mkdtemp(path.join(tmpdir(), 'stepwright-bench-'));
  const use = async <Result>(work: (database: DatabaseSync) => Result): Promise<Result> => {
    const database = new DatabaseSync(path.join(folder, 'stepwright.db'), { timeout: 60_000 });
    try {
      return work(database);
    } finally {
      database.close();
    }
  };
  return {
    environment: { DATA_DIR: folder },
    async copy(copies) {
      await use((database) => copyRows(database, copies));
    },
    completed: (definitionId) =>
      use((database) => {
        const count = database.prepare(
          `SELECT COUNT(*) AS n FROM instances WHERE definitionId = ? AND status = 'Complete'`,
        );
        return Number(count.get(definitionId)?.['n'] ?? 0);
      }),
    async remove() {
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function copyRows(database: DatabaseSync, { workflowId, count }: Copies): void {
  for (const [part, member] of Object.entries(PARTS)) {
    const found = database.prepare(`SELECT * FROM ${part} WHERE ${member} = ?`).get(workflowId);
    if (found === undefined) continue;
    const columns = Object.keys(found);
    const marks = columns.map(() => '?');
    const insert = database.prepare(
      `INSERT INTO ${part} (${columns.join()}) VALUES (${marks.join()})`,
    );
    database.exec('BEGIN IMMEDIATE');
    for (const made of copiesOf(found, workflowId, { from: 1, length: count - 1 })) {
      insert.run(...Object.values(made));
    }
    database.exec('COMMIT');
  }
}

/** Members of the record and its state contain the id. */
function* copiesOf<Part extends object>(
  original: Part,
  workflowId: string,
  { from, length }: { readonly from: number; readonly length: number },
): Generator<Part> {
  const text = JSON.stringify(original);
  for (let number = from; number < from + length; number += 1) {
    yield JSON.parse(text.replaceAll(workflowId, `${workflowId}-${number}`)) as Part;
  }
}
