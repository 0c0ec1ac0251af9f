/**
 * A schema of PostgreSQL as an archive. While an import is unfinished, an entry among the migrations keeps servers from
 * starting on it, those of earlier versions as well.
 */
import { readPostgresAddress } from '../../../postgres/address.js';
import { PostgresServers } from '../../../postgres/servers.js';
import {
  inBatches,
  RECORD_KINDS,
  type ArchiveImport,
  type ArchiveReader,
  type RecordKind,
  type StoreArchive,
} from '../../archive.js';
import { Outage } from '../../outage.js';
import { TABLES } from '../../sql/archive-tables.js';
import { HOUSEKEEPING_OPERATIONS } from '../../sql/housekeeping.js';
import { Connections } from '../connect.js';
import { Database } from '../database.js';
import { migrate, UNFINISHED_IMPORT } from '../migrate.js';
import { MIGRATIONS } from '../migrations/all-migrations.js';
import { quoteName } from '../prepared-texts.js';
import { runSteps } from '../shared-operations.js';
import { recordsOf } from './read-records.js';
import { WRITERS } from './write-records.js';

const CONNECT_TIMEOUT_MS = 10_000;
const NO_TIMEOUT = 0;

/** All tables of a store except the nodes. */
const RECORD_TABLES = [
  ...RECORD_KINDS.filter((kind) => kind !== 'node').map((kind) => TABLES[kind]),
  'definition_stamps',
  'disabled_definitions',
];

/** @throws Error if the database can't be reached */
export async function openPostgresArchive(options: {
  readonly url: string;
  readonly databaseName: string;
  readonly passwordFile: string | null;
}): Promise<StoreArchive> {
  const { databaseName, passwordFile, url } = options;
  const address = readPostgresAddress(url);
  const servers = new PostgresServers({
    address,
    databaseName,
    passwordFile,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    limits: null,
  });
  await servers.find();
  const connections = new Connections({ servers, poolMax: 1 });
  const database = new Database({
    connections,
    schema: address.schema,
    outage: new Outage(CONNECT_TIMEOUT_MS),
    timeoutMs: NO_TIMEOUT,
  });
  const hosts = address.hosts.map(({ host, port }) => `${host}:${port}`).join(',');
  const schema = new Schema(database, address.schema);
  return {
    place: `the schema ${address.schema} of the database ${address.database ?? databaseName} of PostgreSQL at ${hosts}`,
    ...readerOf(database, schema),
    listNodes: async () =>
      (await schema.exists()) ? runSteps(database, HOUSEKEEPING_OPERATIONS.listNodes()) : [],
    problemAsSource: () => schema.problemAsSource(),
    changeMark: () => schema.changeMark(),
    isEmpty: () => schema.isEmpty(),
    beginImport: () => beginImport(database, schema),
    close: () => connections.close(),
  };
}

class Schema {
  readonly name: string;
  readonly #database: Database;

  constructor(database: Database, name: string) {
    this.#database = database;
    this.name = name;
  }

  async exists(): Promise<boolean> {
    const [row] = await this.#database.query('SELECT to_regclass($1) IS NOT NULL AS found', [
      `${quoteName(this.name)}.migrations`,
    ]);
    return row?.boolean('found') ?? false;
  }

  /** The number of the newest migration; an unfinished import has one of its own. */
  async version(): Promise<number> {
    const [row] = await this.#database.query('SELECT max(version) AS version FROM @migrations');
    return row?.numberOrNull('version') ?? 0;
  }

  async problemAsSource(): Promise<string | null> {
    if (!(await this.exists())) return 'there are no tables';
    const version = await this.version();
    if (version === UNFINISHED_IMPORT) return 'it holds an unfinished copy itself';
    if (version === MIGRATIONS.length) return null;
    return 'no server of this version has run on it; start one, and stop it when it is ready';
  }

  /** The transactions that wrote the rows: one that changes a row leaves its number. */
  async changeMark(): Promise<string> {
    const marks: string[] = [];
    for (const table of [...RECORD_TABLES, 'nodes']) {
      const [row] = await this.#database.query(
        `SELECT count(*) || '/' || coalesce(sum(xmin::text::numeric), 0) AS mark FROM @${table}`,
      );
      marks.push(row?.text('mark') ?? '');
    }
    return marks.join(' ');
  }

  async isEmpty(): Promise<boolean> {
    if (!(await this.exists()) || (await this.version()) === UNFINISHED_IMPORT) return true;
    for (const table of RECORD_TABLES) {
      const [row] = await this.#database.query(`SELECT EXISTS (SELECT FROM @${table}) AS found`);
      if (row?.boolean('found') !== false) return false;
    }
    return true;
  }
}

async function beginImport(database: Database, schema: Schema): Promise<ArchiveImport> {
  const isRepeated = (await schema.exists()) && (await schema.version()) === UNFINISHED_IMPORT;
  if (!isRepeated) await migrate(database, schema.name);
  await database.transaction(async (statements) => {
    await statements.execute(
      'INSERT INTO @migrations (version, name, applied_at) VALUES ($1, $2, now()) ON CONFLICT (version) DO NOTHING',
      [UNFINISHED_IMPORT, 'unfinished import'],
    );
    const tables = [...RECORD_TABLES, 'nodes', 'wakes', 'terms', 'turns'].map(
      (table) => `@${table}`,
    );
    await statements.execute(`TRUNCATE ${tables.join(', ')}`);
  });
  return {
    ...readerOf(database, schema),
    write: (kind, records) => WRITERS[kind](database, records),
    async finish() {
      // PostgreSQL plans queries by statistics, and has none for these tables yet.
      for (const table of RECORD_TABLES) await database.execute(`ANALYZE @${table}`);
      await database.execute('DELETE FROM @migrations WHERE version = $1', [UNFINISHED_IMPORT]);
    },
  };
}

function readerOf(database: Database, schema: Schema): ArchiveReader {
  return {
    count: (kind) => countOf(database, schema, kind),
    read: (kind) => inBatches(kind, recordsOf(database, kind)),
  };
}

async function countOf(database: Database, schema: Schema, kind: RecordKind): Promise<number> {
  if (!(await schema.exists())) return 0;
  const [row] = await database.query(`SELECT count(*) AS count FROM @${TABLES[kind]}`);
  return row?.number('count') ?? 0;
}
