/** A store whose compare-and-set has several winners is used by one node alone, or not at all. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { composeServer } from '../../src/compose-server.js';
import { readConfig } from '../../src/config/read-config.js';
import { createLogger } from '../../src/base/logger.js';
import type { Host } from '../../src/runtime/host.js';
import type { Store } from '../../src/store/store.js';
import { sharedPython } from '../behavior/support/server.js';

/** The result of the probe is the only difference to a correct store. */
const notAtomic = (store: Store): Store => ({
  ...store,
  probeAtomicity: () => Promise.resolve(false),
  // A node with the number of this process would count as its former life, so these appear to be in another live
  // process.
  listNodes: async () => (await store.listNodes()).map((node) => ({ ...node, pid: process.ppid })),
});

describe('a store that is not atomic', () => {
  let folder: string;
  let started: Host[];
  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'stepwright-atomic-'));
    started = [];
  });
  afterEach(async () => {
    await Promise.all(started.map((host) => host.stop()));
    await rm(folder, { recursive: true });
  });

  const logLines: string[] = [];
  const start = async (
    wrapStore: (store: Store) => Store,
    environment: Readonly<Record<string, string>> = {},
  ): Promise<Host> => {
    const { host } = await composeServer({
      config: readConfig({ DATA_DIR: folder, ...environment }),
      environment: {},
      logger: createLogger({
        level: 'warn',
        destination: { write: (line) => logLines.push(line) },
      }),
      scripts: sharedPython(),
      wrapStore,
    });
    started.push(host);
    await host.start();
    return host;
  };

  it('warns in the log and works with one node', async () => {
    const host = await start(notAtomic);
    expect(host.readiness()).toEqual({ ready: true, reasons: [] });
    expect(logLines.join('\n')).toContain('several writers win the same compare-and-set');
  });

  it('is rejected by a node with Redis, because Redis implies several nodes', async () => {
    const refused = start(notAtomic, { redis: 'redis://127.0.0.1:1' });
    await expect(refused).rejects.toThrow(
      /redis is set, which is for several nodes: use it with a single node/,
    );
  });

  it('is rejected by a second node, which leaves no trace; the first continues', async () => {
    const first = await start(notAtomic);
    const { nodeId } = first.info();
    const refused = start(notAtomic);
    await expect(refused).rejects.toThrow(`${nodeId} (`);
    await expect(refused).rejects.toThrow('is already using it');
    expect(first.readiness().ready).toBe(true);
    await first.stop();
    // Only a record of a live node prevents the start.
    await expect(start(notAtomic)).resolves.toBeDefined();
  });

  it('is not reported if the store is atomic', async () => {
    await start((store) => store);
    await expect(start((store) => store)).resolves.toBeDefined();
  });
});
