/** The available backplanes, by the scheme of their address. To add one, add an entry here and a folder. */
import { byScheme } from '../base/by-scheme.js';
import { createHash } from 'node:crypto';
import type { Logger } from '../base/logger.js';
import type { Backplane } from './backplane.js';
import { readPostgresAddress } from '../postgres/address.js';
import { createLocalBackplane } from './local-backplane.js';

export interface BackplaneOptions {
  /** Null: the store's server carries hints where it can; otherwise there is no other node, or none that can be told anything. */
  readonly address: string | null;
  readonly notifications: StoreNotifications | null;
  /** Nodes of one store tell each other, and nobody else. */
  readonly databaseName: string;
  readonly nodeId: string;
  readonly logger: Logger;
}

/** A store whose server can also carry hints. */
export interface StoreNotifications {
  /** The connection string of the store, whose schema names the channel. */
  readonly storeAddress: string;
  /** Where to listen: a connection string of PostgreSQL. */
  readonly address: string;
  readonly passwordFile: string | null;
  readonly notify: (channel: string, payloads: readonly string[]) => Promise<void>;
}

interface BackplaneChoice {
  readonly schemes: readonly string[];
  readonly create: (address: string, options: BackplaneOptions) => Promise<Backplane>;
}

const REMOTE: readonly BackplaneChoice[] = [
  {
    schemes: ['redis', 'rediss'],
    async create(url, { databaseName, logger, nodeId }) {
      // The driver is large, so only servers that use it load it.
      const { createRedisBackplane } = await import('./redis/redis-backplane.js');
      // Nodes of different stores may share one Redis, so each store has its own channel.
      return createRedisBackplane({ url, channel: `stepwright:${databaseName}`, nodeId, logger });
    },
  },
];

const LISTEN_CONNECT_MS_MAX = 2000;
/** PostgreSQL refuses longer ones. */
const CHANNEL_BYTES_MAX = 63;

/** The address schemes that `createBackplane` accepts. */
export const BACKPLANE_SCHEMES = REMOTE.flatMap(({ schemes }) => schemes);

export async function createBackplane(options: BackplaneOptions): Promise<Backplane> {
  const { address } = options;
  if (address === null) return createStoreBackplane(options);
  return byScheme(REMOTE, address).create(address, options);
}

async function createStoreBackplane(options: BackplaneOptions): Promise<Backplane> {
  const { databaseName, logger, nodeId, notifications } = options;
  if (notifications === null) return createLocalBackplane();
  const { createPostgresBackplane } = await import('./postgres/postgres-backplane.js');
  const { PostgresServers } = await import('../postgres/servers.js');
  const store = readPostgresAddress(notifications.storeAddress);
  const address = readPostgresAddress(notifications.address);
  const servers = new PostgresServers({
    // Notifications stay within a database.
    address: { ...address, database: address.database ?? store.database },
    databaseName,
    passwordFile: notifications.passwordFile,
    connectTimeoutMs: LISTEN_CONNECT_MS_MAX,
    // The connection waits for notifications; it sends no statement that could take long.
    limits: null,
  });
  return createPostgresBackplane({
    connect: () => servers.connect(),
    notify: notifications.notify,
    channel: channelOf(store.schema),
    nodeId,
    logger,
  });
}

/** Stores in other schemas of the same database have channels of their own. */
function channelOf(schema: string): string {
  const channel = `stepwright:${schema}`;
  if (Buffer.byteLength(channel) <= CHANNEL_BYTES_MAX) return channel;
  return `stepwright:${createHash('sha256').update(schema).digest('hex').slice(0, 40)}`;
}
