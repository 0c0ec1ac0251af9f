/** A server with the memory store, on a free loopback port, for the duration of one command. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createLogger } from '../../base/logger.js';
import { composeServer } from '../../compose-server.js';
import { readConfig } from '../../config/read-config.js';
import { createMemoryStore } from '../../store/memory/memory-store.js';
import type { ServerCalls } from './store-files.js';

/** Settings in the environment are meant for a real server, so they aren't used. */
const SETTINGS = { LOG_LEVEL: 'error', PYTHON_SPARES: '0' };

export async function withOfflineServer<T>(use: (server: ServerCalls) => Promise<T>): Promise<T> {
  const config = readConfig(SETTINGS);
  const logger = createLogger({ level: config.log_level });
  const { app, host } = await composeServer({
    config,
    environment: {},
    secretSource: null,
    logger,
    store: createMemoryStore(),
  });
  const http = createServer(app);
  await host.start();
  try {
    http.listen(0, '127.0.0.1');
    await once(http, 'listening');
    const { port } = http.address() as AddressInfo; // It listens on TCP.
    return await use({ url: `http://127.0.0.1:${port}`, token: null });
  } finally {
    http.close();
    http.closeAllConnections();
    await host.stop();
  }
}
