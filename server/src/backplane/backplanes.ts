/** The backplanes that a server can use, by the scheme of their address. A further one is an entry here and a folder. */
import type { Logger } from '../base/logger.js';
import type { Backplane } from './backplane.js';
import { createLocalBackplane } from './local-backplane.js';

export interface BackplaneOptions {
  /** Null: there is no other node, or none that can be told anything. */
  readonly address: string | null;
  /** Nodes of one store tell each other, and nobody else. */
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
      // Its driver is much JavaScript, so that it is loaded by those servers only that use it.
      const { createRedisBackplane } = await import('./redis/redis-backplane.js');
      // Nodes of different stores may share one Redis; each store has a channel of its own.
      return createRedisBackplane({ url, channel: `stepwright:${databaseName}`, nodeId, logger });
    },
  },
];

/** Schemes of the addresses that `createBackplane` knows. */
export const BACKPLANE_SCHEMES = REMOTE.flatMap(({ schemes }) => schemes);

export async function createBackplane(options: BackplaneOptions): Promise<Backplane> {
  const { address } = options;
  if (address === null) return createLocalBackplane();
  const found = REMOTE.find(({ schemes }) =>
    schemes.some((scheme) => address.startsWith(`${scheme}://`)),
  );
  // Settings let no other address pass.
  if (found === undefined) throw new Error('There is no backplane for an address of this scheme');
  return found.create(address, options);
}
