/** The process: configuration, composition, listening, graceful stop. The only place that ends the process. */
import { createServer, type Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { composeServer, type Server } from './compose-server.js';
import { ConfigError } from './base/config-error.js';
import { readConfig } from './config/read-config.js';
import { endWithLauncher, launcherIsGone } from './end-with-launcher.js';
import { limitYoungGeneration } from './limit-young-generation.js';
import { createLogger } from './base/logger.js';
import type { Config } from './config/settings.js';
import { presetOfProcess } from './command-preset.js';
import { startTip } from './start-tip.js';
import { storeAt } from './store/stores.js';

limitYoungGeneration();
endWithLauncher(process.env);
const config = loadConfig();
const logger = createLogger({ level: config.log_level });

process.on('unhandledRejection', (error) => {
  logger.fatal({ err: error }, 'unhandled error');
  process.exit(1);
});

const server = await build(config);
const http = createServer(
  {
    // A body that trickles in is not waited for; long polls are answers, which have no such limit.
    requestTimeout: config.request_timeout_ms,
    headersTimeout: Math.min(config.headers_timeout_ms, config.request_timeout_ms),
    // How late Node may notice, which would be half a minute.
    connectionsCheckingInterval: 1000,
    // Longer than load balancers keep idle connections, so that they never send into one that is being closed.
    keepAliveTimeout: 75_000,
  },
  server.app,
);

try {
  await server.host.start();
  await listen(http, config);
} catch (error) {
  logger.fatal({ err: error }, `the server could not start${reasonOf(error)}`);
  process.exit(1);
}
// Whoever reads that the server listens may end it at once.
let isStopping = false;
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => void stop(signal));
}
/** Where clients reach the server. */
export const url = announce(http, config);

function loadConfig(): Config {
  try {
    return readConfig(process.env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`stepwright: ${error.message}\n`);
    process.exit(2);
  }
}

async function build(settings: Config): Promise<Server> {
  const { store } = presetOfProcess();
  try {
    return await composeServer({
      config: settings,
      environment: process.env,
      logger,
      ...(store !== undefined && { store }),
    });
  } catch (error) {
    process.stderr.write(`stepwright: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(2);
  }
}

/** The common reasons in words; everything else is in the log line. */
function reasonOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : null;
  const where = `${config.host}:${config.port}`;
  if (code === 'EADDRINUSE') return `: ${where} is already in use; set PORT to another port`;
  if (code === 'EACCES') return `: permission denied to listen on ${where}`;
  if (code === 'EADDRNOTAVAIL') return `: this machine has no address ${config.host}`;
  return '';
}

function listen(httpServer: HttpServer, { host, port }: Config): Promise<void> {
  return new Promise((resolve, reject) => {
    httpServer.once('error', reject);
    httpServer.listen(port, host, resolve);
  });
}

function announce(httpServer: HttpServer, settings: Config): string {
  const { address, family, port } = httpServer.address() as AddressInfo; // It listens on TCP.
  const shown = family === 'IPv6' ? `[${address}]` : address;
  const place = `http://${shown}:${port}`;
  const store = placeOfData(settings);
  const isLocal = address === '::1' || address.startsWith('127.');
  if (!isLocal && !settings.auth && !settings.allow_insecure) {
    logger.warn(
      { address },
      'anyone who can reach this address can run workflows: set auth=true, or allow_insecure=true to accept the risk',
    );
  }
  logger.info({ url: place, store }, 'listening');
  process.stdout.write(
    [
      '',
      `  Stepwright listens on ${place}`,
      `  Operator page         ${place}/ui/`,
      `  API page              ${place}/swagger`,
      `  Store                 ${store}`,
      '',
      ...(presetOfProcess().hasOwnTip === true ? [] : startTip(place, settings)),
      '',
    ].join('\n'),
  );
  return place;
}

function placeOfData({ data_dir, dbhost }: Config): string {
  if (presetOfProcess().store !== undefined) return 'memory: nothing outlives this process';
  return storeAt(dbhost).place(data_dir);
}

async function stop(signal: string): Promise<void> {
  if (isStopping) return;
  isStopping = true;
  const reason = launcherIsGone() ? { reason: 'what started the server has ended' } : {};
  logger.info({ signal, ...reason }, 'stopping');
  const deadline = setTimeout(() => {
    logger.warn('work in progress did not finish in time; it continues at the next start');
    process.exit(0);
  }, config.shutdown_grace_ms);
  deadline.unref();
  const closed = new Promise<void>((resolve) => {
    http.close(() => resolve());
  });
  await server.host.stop();
  http.closeIdleConnections();
  await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, 500))]);
  logger.info('stopped');
  process.exit(0);
}
