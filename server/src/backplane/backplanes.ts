/** The available backplanes, by the scheme of their address. To add one, add an entry here and a folder. */
import type { Logger } from '../base/logger.js';
import type { Backplane } from './backplane.js';
import { createLocalBackplane } from './local-backplane.js';

export interface BackplaneOptions {
  /** Null: there are no other nodes, or none that can be reached. */
  readonly address: string | null;
  /** Only nodes that share a store notify each other. */
  readonly databaseName: string;
  readonly nodeId: string;
  readonly logger: Logger;
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

/** The address schemes that `createBackplane` accepts. */
export const BACKPLANE_SCHEMES = REMOTE.flatMap(({ schemes }) => schemes);

export async function createBackplane(options: BackplaneOptions): Promise<Backplane> {
  const { address } = options;
  if (address === null) return createLocalBackplane();
  const found = REMOTE.find(({ schemes }) =>
    schemes.some((scheme) => address.startsWith(`${scheme}://`)),
  );
  // The settings accept no other scheme.
  if (found === undefined) throw new Error('There is no backplane for an address of this scheme');
  return found.create(address, options);
}
