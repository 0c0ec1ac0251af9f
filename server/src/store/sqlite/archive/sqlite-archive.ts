/**
 * The embedded store as an archive. It blocks, so it needs a separate process.
 *
 * An import fills a file with another name, which replaces the file of the store when it is complete. So no server ever
 * sees an incomplete copy.
 */
import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import {
  inBatches,
  RECORD_KINDS,
  type ArchivedRecords,
  type ArchiveImport,
  type ArchiveReader,
  type RecordKind,
  type StoreArchive,
} from '../../archive.js';
import { TABLES } from '../../sql/archive-tables.js';
import { HOUSEKEEPING_OPERATIONS } from '../../sql/housekeeping.js';
import { Database } from '../database.js';
import { runSteps } from '../shared-operations.js';
import { importFileOf } from '../unfinished-import.js';
import { recordsOf } from './read-records.js';
import { WRITERS } from './write-records.js';

const BUSY_TIMEOUT_MS = 2000;
/** The files that SQLite keeps beside an open one. */
const COMPANIONS = ['-wal', '-shm'];

export function openSqliteArchive(file: string): StoreArchive {
  // A file that doesn't exist is an empty store; looking at it doesn't create it.
  let database = existsSync(file) ? openDatabase(file) : null;
  let copy: Database | null = null;
  const close = (): void => {
    copy?.close();
    database?.close();
    copy = null;
    database = null;
  };
  return {
    place: file,
    ...readerOf(database),
    listNodes: async () =>
      database === null ? [] : runSteps(database, HOUSEKEEPING_OPERATIONS.listNodes()),
    problemAsSource: async () => {
      if (existsSync(importFileOf(file))) return 'it holds an unfinished copy itself';
      return database === null ? 'there is no such file' : null;
    },
    // Of commits by other connections, since this one was opened.
    changeMark: async () => String(database?.get('PRAGMA data_version')?.number('data_version')),
    isEmpty: async () => database === null || isEmpty(database),
    async beginImport() {
      const target = importFileOf(file);
      for (const ending of ['', ...COMPANIONS]) rmSync(target + ending, { force: true });
      copy = openDatabase(target);
      return importInto(copy, () => {
        if (database === null ? existsSync(file) : !isEmpty(database)) {
          throw new Error(`${file} has been filled by another process during the copy`);
        }
        close();
        replaceFile(target, file);
      });
    },
    close: async () => close(),
  };
}

function isEmpty(database: Database): boolean {
  return RECORD_KINDS.every((kind) => kind === 'node' || countOf(database, kind) === 0);
}

function openDatabase(file: string): Database {
  return new Database({ path: file, busyTimeoutMs: BUSY_TIMEOUT_MS });
}

function readerOf(database: Database | null): ArchiveReader {
  return {
    count: async (kind) => (database === null ? 0 : countOf(database, kind)),
    read: (kind) => readAll(database, kind),
  };
}

function countOf(database: Database, kind: RecordKind): number {
  return database.get(`SELECT COUNT(*) AS n FROM ${TABLES[kind]}`)?.number('n') ?? 0;
}

async function* readAll<Kind extends RecordKind>(
  database: Database | null,
  kind: Kind,
): AsyncGenerator<readonly ArchivedRecords[Kind][]> {
  if (database !== null) yield* inBatches(kind, recordsOf(database, kind));
}

function importInto(database: Database, finish: () => void): ArchiveImport {
  return {
    ...readerOf(database),
    async write(kind, records) {
      const write = WRITERS[kind];
      database.transaction(() => {
        for (const record of records) write(database, record);
      });
    },
    finish: async () => finish(),
  };
}

/** Both are closed. */
function replaceFile(source: string, file: string): void {
  const companions = [file, source].flatMap((name) => COMPANIONS.map((ending) => name + ending));
  const open = companions.find((name) => existsSync(name));
  if (open !== undefined) {
    throw new Error(`${file} is open in another process (${open} exists): stop it first`);
  }
  renameSync(source, file);
  // The new name must be on the disk before the import counts as complete.
  const folder = openSync(path.dirname(file), 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
