/**
 * The attacks on Python's sandbox (scripts/pyodide/attacks.ts), made by a client on the built server: as scripts of
 * custom steps and as expressions. Runs a few of them; all with ATTACKS=all, which takes some minutes.
 *
 * After each attack, nothing has happened on the host, no secret has leaked, and the next workflow gets the same
 * results as before. The server responds all the time.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { JsonObject } from '../../src/engine/values/json.js';
import { Client } from '../behavior/support/client.js';
import { startProcess, temporaryFolder } from '../behavior/support/server-process.js';
import { compute, step } from '../behavior/support/steps.js';
import {
  CONTAMINATIONS,
  FORGED_VALUES,
  FORGERIES,
  hostAttacks,
  withPrelude,
  type Attack,
  type AttackTargets,
} from '../scripts/pyodide/attacks.js';
import { worstLiveLatency } from './support/live-latency.js';

const EVERY = process.env['ATTACKS'] === 'all' ? 1 : 25;
const SECRET = 'STEPWRIGHT-TEST-SECRET-91be';

function attacksOn(targets: AttackTargets): readonly Attack[] {
  const named = (kind: string, sources: Readonly<Record<string, string>>): readonly Attack[] =>
    Object.entries(sources).map(([name, source]) => ({
      name: `${kind}: ${name}`,
      source: withPrelude(source),
    }));
  return [
    ...hostAttacks(targets),
    ...named('leave behind', CONTAMINATIONS),
    ...named(
      'forge an answer',
      mapped(FORGERIES, (forged) => `G["_collect"] = lambda *a: ${forged}`),
    ),
    ...named(
      'forge a value',
      mapped(FORGED_VALUES, (forged) => `G["_encode"] = lambda *a: ${forged}`),
    ),
  ];
}

function mapped(
  sources: Readonly<Record<string, string>>,
  change: (source: string) => string,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(sources).map(([name, source]) => [name, change(source)]),
  );
}

/** What the next workflow evaluates in Python: pure and other expressions, and a script. */
async function defineHealthy(client: Client): Promise<string> {
  const script = await client.script('import json\nb = json.loads(json.dumps(a))');
  const Outputs = {
    pure: 'sorted(data.list) + [abs(data.n)]',
    impure: '(lambda: [len(data.list), str(5), math.floor(2.5), str(Decimal(1) / 8)])()',
    text: 're.sub("a", "b", "aa")',
    script: 'step.b',
  };
  return client.define([step('s', script, { a: '[1]' }, { Outputs })]);
}

const HEALTHY: JsonObject = {
  pure: [1, 2, 3, 1],
  impure: [3, '5', 2, '0.125'],
  text: 'bb',
  script: [1],
};

describe('an attack on Python from a client of the built server', () => {
  it('reaches neither the host nor other runs', { timeout: 1_800_000 }, async () => {
    const folder = await temporaryFolder();
    const connections: string[] = [];
    const listener = createServer((socket) => {
      connections.push('opened');
      socket.destroy();
    });
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void listener.close());
    const server = await startProcess({
      PORT: '0',
      DATA_DIR: await temporaryFolder(),
      STEPWRIGHT_SECRET: SECRET,
      auth: 'false',
      environment_allow: 'HOSTNAME',
      script_timeout_ms: '1500',
    });
    const targets: AttackTargets = {
      file: join(folder, 'created'),
      secretFile: join(folder, 'secret'),
      port: (listener.address() as { port: number }).port,
      pid: server.pid,
    };
    writeFileSync(targets.secretFile, SECRET);
    const client = new Client(server.url);
    const healthy = await defineHealthy(client);
    const expectUntouched = async (name: string, told: string): Promise<void> => {
      expect(existsSync(targets.file), name).toBe(false);
      expect(readFileSync(targets.secretFile, 'utf8'), name).toBe(SECRET);
      expect(connections, name).toEqual([]);
      expect(told, name).not.toContain(SECRET);
      const { data } = await client.ended(await client.start(healthy, { list: [3, 1, 2], n: -1 }));
      expect(data, name).toMatchObject(HEALTHY);
    };
    const run = async (attacking: JsonObject): Promise<string> => {
      const rest = { ErrorBehavior: 'Terminate' };
      const id = await client.defineAndStart([{ ...attacking, ...rest }], { r: { a: 1 } });
      return JSON.stringify([await client.ended(id), await client.steps(id)]);
    };
    const chosen = attacksOn(targets).filter((_, at) => at % EVERY === 0);
    const latency = await worstLiveLatency(server, async () => {
      for (const { name, source } of chosen) {
        const script = await client.script(source);
        await expectUntouched(name, await run(step('s', script, { r: 'data.r' })));
        const text = `exec(${JSON.stringify(source)}, {"r": data.r, "__builtins__": __builtins__})`;
        await expectUntouched(`${name}, in an expression`, await run(compute('s', { x: text })));
      }
    });
    // The delay of other requests is measured elsewhere: here a new process starts every second, and while the kernel
    // has no core for it, the server waits for its start, which is not counted as waiting for a core.
    expect(latency.failures).toBe(0);
  });
});
