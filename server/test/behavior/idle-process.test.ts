/**
 * Goal: an idle server costs next to nothing, and loads nothing that it does not use.
 * Method: the built server as its own process, with counts that do not depend on the machine: loaded modules, and how
 * often its main thread went to sleep again.
 */
import { setTimeout } from 'node:timers/promises';
import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { Client } from './support/client.js';
import { eventually } from '../../../sdk/test/support/eventually.js';
import { startProcess, temporaryFolder } from './support/server-process.js';
import { chain, step } from './support/steps.js';

/** Appends the URL of each module that is loaded. */
const hookFor = (list: string): string => `
  import { appendFileSync } from 'node:fs';
  import { registerHooks } from 'node:module';
  registerHooks({
    load(url, context, next) {
      appendFileSync(${JSON.stringify(list)}, url + '\\n');
      return next(url, context);
    },
  });`;

async function startWithList(environment: Readonly<Record<string, string>> = {}) {
  const folder = await temporaryFolder();
  const list = path.join(folder, 'modules.txt');
  const hook = path.join(folder, 'hook.mjs');
  await writeFile(hook, hookFor(list));
  const server = await startProcess({
    PORT: '0',
    DATA_DIR: folder,
    PYTHON_SPARES: '0',
    NODE_OPTIONS: `--import ${pathToFileURL(hook).href}`,
    ...environment,
  });
  /** The package of each module, or the file if it is part of the server. */
  const packages = (): ReadonlySet<string> => {
    const urls = readFileSync(list, 'utf8').split('\n');
    return new Set(
      urls.map((url) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1] ?? url),
    );
  };
  return { client: new Client(server.url), packages };
}

describe('the set of modules that a server loads', () => {
  it("includes no database driver with the embedded store, and the HTTP client only once it's used", async () => {
    const { client, packages } = await startWithList();
    const unused = ['mongodb', 'bson', 'ioredis', 'undici'];
    expect([...packages()]).toEqual(expect.arrayContaining(['express', 'prom-client']));
    expect(unused.filter((name) => packages().has(name))).toEqual([]);
    const definition = await client.define(
      chain(
        step(
          'call',
          'HttpRequest',
          { BaseUrl: '"http://127.0.0.1:1"' },
          { Outputs: { e: 'step.ErrorMessage' } },
        ),
      ),
    );
    await client.ended(await client.start(definition));
    expect(unused.filter((name) => packages().has(name))).toEqual(['undici']);
  });

  it('includes the Redis driver if Redis is configured', async () => {
    const { packages } = await startWithList({ redis: 'redis://127.0.0.1:1' });
    expect(packages().has('ioredis')).toBe(true);
    expect(packages().has('mongodb')).toBe(false);
  });
});

const OBSERVED_SECONDS = 6;

describe.skipIf(!existsSync('/proc/self/status'))('an idle server', () => {
  it('wakes up only a few times a second', async () => {
    const folder = await temporaryFolder();
    const server = await startProcess({ PORT: '0', DATA_DIR: folder });
    const client = new Client(server.url);
    await eventually('the server is ready', async () => {
      const { status } = await client.get('/health/ready');
      return status === 200;
    });
    const before = sleepsOf(server.pid);
    // Counting for a while is the purpose; there is no condition to wait for.
    await setTimeout(OBSERVED_SECONDS * 1000);
    const perSecond = (sleepsOf(server.pid) - before) / OBSERVED_SECONDS;
    expect(perSecond).toBeGreaterThan(0);
    expect(perSecond).toBeLessThan(20);
  });
});

/** How often the main thread has gone to sleep voluntarily: preemption does not count. */
function sleepsOf(pid: number): number {
  const status = readFileSync(`/proc/${pid}/task/${pid}/status`, 'utf8');
  return Number(/^voluntary_ctxt_switches:\s+(\d+)$/m.exec(status)?.[1]);
}
