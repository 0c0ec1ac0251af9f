/** A whole server on its own port: real store, real Python, everything except its own process. */
import { setTimeout } from 'node:timers/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll } from 'vitest';
import type { Clock } from '../../../src/base/clock.js';
import { systemIds } from '../../../src/base/ids.js';
import type { RandomSource } from '../../../src/compose-host.js';
import { composeServer } from '../../../src/compose-server.js';
import { readConfig } from '../../../src/config/read-config.js';
import { createLogger } from '../../../src/base/logger.js';
import { createPyodideRuntime } from '../../../src/scripts/pyodide/pyodide-script-runtime.js';
import type { ScriptRuntime } from '../../../src/scripts/script-runtime.js';
import type { Store } from '../../../src/store/store.js';
import { DEFAULT_PYTHON_LIMITS } from '../../support/default-limits.js';

export interface TestServer {
  readonly url: string;
  /** Every log line, parsed. */
  readonly logLines: readonly Record<string, unknown>[];
  /** Like SIGTERM: pending calls are answered, then the store is closed. */
  stop(): Promise<void>;
}

export interface TestServerOptions {
  readonly store: Store;
  /** Settings, by the names of their environment variables. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly wrapStore?: (store: Store) => Store;
  /** A Python runtime with these settings, instead of the one that all servers of a test file share. */
  readonly ownPython?: boolean;
  /** The time of the server; the machine's if omitted. */
  readonly clock?: Clock;
  /** The log lines that are kept; all if omitted. */
  readonly keepsLine?: (line: Record<string, unknown>) => boolean;
}

export async function startServer(options: TestServerOptions): Promise<TestServer> {
  const { environment = {}, keepsLine = () => true, ownPython = false, store, wrapStore } = options;
  const { clock } = options;
  const logLines: Record<string, unknown>[] = [];
  const logger = createLogger({
    level: 'trace',
    destination: {
      write: (text) => {
        const line = JSON.parse(text) as Record<string, unknown>;
        if (keepsLine(line)) logLines.push(line);
      },
    },
  });
  const { app, host } = await composeServer({
    config: readConfig(environment),
    environment,
    logger,
    store,
    ...(ownPython ? {} : { scripts: sharedPython() }),
    ...(wrapStore === undefined ? {} : { wrapStore }),
    ...(clock === undefined ? {} : { random: chanceAt(clock) }),
  });
  await host.start();
  const http = createServer(app);
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const { port } = http.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    logLines,
    async stop() {
      const closed = new Promise((resolve) => http.close(resolve));
      await host.stop();
      http.closeIdleConnections();
      await Promise.race([closed, setTimeout(200)]);
      http.closeAllConnections();
    },
  };
}

function chanceAt(clock: Clock): RandomSource {
  return { clock, ids: systemIds, nextMoment: () => ({ time: clock.now(), seed: 1 }) };
}

/** The content of `environment` in the expressions of every server that shares the interpreter. */
export const VISIBLE_ENVIRONMENT = { GREETING: 'Hello', TEST_ZONE: 'blue' } as const;

let python: ScriptRuntime | null = null;

/** One real interpreter for all servers of a test file: starting it takes a second, and no server modifies it. */
export function sharedPython(): ScriptRuntime {
  python ??= createPyodideRuntime({
    ...DEFAULT_PYTHON_LIMITS,
    spares: 0,
    environment: VISIBLE_ENVIRONMENT,
    logger: { info: () => undefined, warn: console.warn, error: console.error },
  });
  const runtime = python;
  return {
    get ready() {
      return runtime.ready;
    },
    waitUntilReady: () => runtime.waitUntilReady(),
    start: () => runtime.start(),
    // Servers start and stop; the interpreter stays until the file is done.
    stop: () => Promise.resolve(),
    evaluate: (...args) => runtime.evaluate(...args),
    runScript: (...args) => runtime.runScript(...args),
    checkSyntax: (...args) => runtime.checkSyntax(...args),
    ...(runtime.findForbiddenImports !== undefined && {
      findForbiddenImports: runtime.findForbiddenImports,
    }),
    ...(runtime.examine !== undefined && { examine: runtime.examine }),
    statistics: () => runtime.statistics(),
  };
}

afterAll(async () => {
  await python?.stop();
  python = null;
});
