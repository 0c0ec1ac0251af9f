/**
 * The stores that a server can use, by the scheme of their address. To add a store, add an entry here and a folder.
 *
 * The drivers are large, so a server loads only the store that it uses.
 */
import path from 'node:path';
import { byScheme } from '../base/by-scheme.js';
import type { Logger } from '../base/logger.js';
import { closeToOthers, isOpenToOthers, makePrivateDirectory } from '../base/private-files.js';
import { POSTGRES_SCHEMES } from '../postgres/address.js';
import type { StoreArchive } from './archive.js';
import { searchConnectionsOf } from './remote-calls.js';
import type { Store } from './store.js';

export interface StoreOptions {
  /** Empty for the embedded store. */
  readonly address: string;
  readonly databaseName: string;
  /** Directory of the embedded store. */
  readonly dataDir: string;
  /** The rest is for PostgreSQL. */
  readonly passwordFile: string | null;
  readonly poolMax: number;
  readonly statementTimeoutMs: number;
  readonly logger: Logger;
  /** Reports the clock of the store's server, and how long the response took. */
  readonly onServerTime: (time: number, roundTripMs: number) => void;
}

/** Searches that run at the same time: of all callers, and of each. */
export interface SearchTurns {
  readonly turnsMax: number;
  readonly turnsPerCallerMax: number;
}

export interface StoreChoice {
  /** The schemes of its addresses; the embedded store has none. */
  readonly schemes: readonly string[];
  /** True if the store runs on a server of its own: nodes run on several machines, and follow its clock. */
  readonly isRemote: boolean;
  /** Searches of callers that run at the same time, of those that the store can run. */
  readonly searches: (options: Pick<StoreOptions, 'poolMax'>) => SearchTurns;
  /** Where the data is, for the log. */
  readonly place: (dataDir: string) => string;
  readonly create: (options: StoreOptions) => Promise<Store>;
  /** All its records, for moving them; see archive.ts. */
  readonly openArchive: (
    options: Pick<StoreOptions, 'address' | 'databaseName' | 'dataDir' | 'passwordFile'>,
  ) => Promise<StoreArchive>;
}

/** Of the embedded store. */
const FILE_NAME = 'stepwright.db';

/** A directory may have more in it, and a file another owner, so only the operator can close them. */
function warnIfOpen(paths: readonly string[], logger: Logger): void {
  for (const open of paths.filter(isOpenToOthers)) {
    logger.warn(
      { path: open },
      `other users of this machine may open ${open}; to prevent it: chmod o= ${open}`,
    );
  }
}

const EMBEDDED: StoreChoice = {
  schemes: [],
  isRemote: false,
  // One thread searches; the next search waits there, so that the thread need not wait for it.
  searches: () => ({ turnsMax: 2, turnsPerCallerMax: 1 }),
  place: (dataDir) => `one file in ${dataDir}`,
  async create({ dataDir, logger }) {
    const { createSqliteStore } = await import('./sqlite/sqlite-store.js');
    makePrivateDirectory(dataDir);
    const file = path.join(dataDir, FILE_NAME);
    closeToOthers(file);
    warnIfOpen([dataDir, file], logger);
    return createSqliteStore({ path: file, logger });
  },
  async openArchive({ dataDir }) {
    const { openSqliteArchive } = await import('./sqlite/archive/sqlite-archive.js');
    return openSqliteArchive(path.join(dataDir, FILE_NAME));
  },
};

/** The driver's pool has a hundred connections; each search may keep a core of the database busy. */
const MONGO_SEARCH_TURNS = 4;

/** Each caller leaves some for the searches of others. */
function turnsOf(turnsMax: number): SearchTurns {
  return { turnsMax, turnsPerCallerMax: Math.max(1, Math.floor(turnsMax / 2)) };
}

const REMOTE: readonly StoreChoice[] = [
  {
    schemes: POSTGRES_SCHEMES,
    isRemote: true,
    searches: ({ poolMax }) => turnsOf(Math.max(1, searchConnectionsOf(poolMax))),
    place: () => 'PostgreSQL',
    async create({ address, ...options }) {
      const { createPostgresStore } = await import('./postgres/postgres-store.js');
      return createPostgresStore({ url: address, ...options });
    },
    async openArchive({ address, databaseName, passwordFile }) {
      const { openPostgresArchive } = await import('./postgres/archive/postgres-archive.js');
      return openPostgresArchive({ url: address, databaseName, passwordFile });
    },
  },
  {
    schemes: ['mongodb', 'mongodb+srv'],
    isRemote: true,
    searches: () => turnsOf(MONGO_SEARCH_TURNS),
    place: () => 'MongoDB',
    async create({ address, databaseName, onServerTime }) {
      const { createMongoStore } = await import('./mongo/mongo-store.js');
      return createMongoStore({ url: address, databaseName, onServerTime });
    },
    async openArchive({ address, databaseName }) {
      const { openMongoArchive } = await import('./mongo/archive/mongo-archive.js');
      return openMongoArchive({ url: address, databaseName });
    },
  },
];

/** Schemes of the addresses that `storeAt` accepts. */
export const STORE_SCHEMES = REMOTE.flatMap(({ schemes }) => schemes);

/** @param address null: the embedded store */
export function storeAt(address: string | null): StoreChoice {
  return address === null ? EMBEDDED : byScheme(REMOTE, address);
}
