/**
 * S-25 to S-29 on the built server: Python that is long, slow or hostile. Other requests are served in the meantime, as
 * a process beside the server measures.
 */
import { describe, expect, it } from 'vitest';
import { Client, fresh } from '../behavior/support/client.js';
import { startProcess, temporaryFolder } from '../behavior/support/server-process.js';
import type { SpawnedServer } from '../support/spawned-server.js';
import { expectLively, worstLiveLatency } from './support/live-latency.js';

async function start(environment: Readonly<Record<string, string>> = {}): Promise<SpawnedServer> {
  return startProcess({ PORT: '0', DATA_DIR: await temporaryFolder(), ...environment });
}

async function post(url: string, body: unknown) {
  const response = await fetch(url, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

function definitionOf(Outputs: Readonly<Record<string, string>>): object {
  return { Id: 'd', Steps: [{ Id: 's', StepType: 'NoOp', Outputs }] };
}

async function replacedInterpreters(url: string): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  return Number(/^stepwright_python_replaced (\d+)$/m.exec(metrics)?.[1]);
}

describe('unlimited padding in an expression (S-25)', () => {
  it.each([20_000, 200_000])('delays no other request with %i characters', async (length) => {
    const { pid, url } = await start();
    const Outputs = {
      a: `1${' '.repeat(length)}.`,
      b: `${' '.repeat(length)}1`,
      c: ' \n'.repeat(length / 2),
    };
    const measured = await worstLiveLatency({ pid, url }, () =>
      post(`${url}/api/definition/validate`, definitionOf(Outputs)),
    );
    expect(measured.answer.status).toBe(200);
    expect(measured.answer.body).toMatchObject({
      errors: [{ code: 'expression_too_long', pointer: '/Steps/0/Outputs/a' }],
    });
    expectLively(measured);
  });
});

describe('an expression that is hard to parse or to compile (S-26)', () => {
  const LENGTH = 16_000;
  const HARD: Readonly<Record<string, (text: string) => string>> = {
    'stars for the parser': () => '*a,'.repeat(LENGTH / 3),
    'lines of stars': () => '*a,\n'.repeat(LENGTH / 4),
    sums: () => `a${'+a'.repeat((LENGTH - 1) / 2)}`,
    attributes: () => `a${'.b'.repeat(LENGTH / 2)}`,
    calls: () => `a${'()'.repeat(LENGTH / 2)}`,
    lambdas: () => `${'lambda:'.repeat(LENGTH / 7)}a`,
    brackets: () => '('.repeat(LENGTH),
  };

  /** They compile at once, and exceed a limit when they run. */
  const DEEP: readonly string[] = [
    '(lambda f: f(f))(lambda f: f(f))',
    'eval("(" * 10000 + ")" * 10000)',
    'len(str(__import__("functools").reduce(lambda a, _: [a], range(100000), 1)))',
    '__import__("functools").reduce(lambda a, _: [a], range(100000), 1)',
    're.compile("(" * 5000 + ")" * 5000)',
  ];

  it.each(Object.entries(HARD))(
    'delays no other request and costs no interpreter: %s',
    { timeout: 120_000 },
    async (_, make) => {
      const { pid, url } = await start();
      await expect.poll(() => replacedInterpreters(url)).toBe(0);
      const Outputs = Object.fromEntries(
        Array.from({ length: 50 }, (_each, at) => [
          `o${at}`,
          `${make('')}${at % 2 === 0 ? '' : ' '}`,
        ]),
      );
      const measured = await worstLiveLatency({ pid, url }, () =>
        post(`${url}/api/definition/validate`, definitionOf(Outputs)),
      );
      expect(measured.answer.status).toBe(200);
      expectLively(measured);
      expect(await replacedInterpreters(url)).toBe(0);
    },
  );

  it(
    'delays no other request and costs no interpreter when it is evaluated',
    { timeout: 240_000 },
    async () => {
      // With a spare, an interpreter that has grown is replaced.
      const { pid, url } = await start({ PYTHON_SPARES: '0' });
      const client = new Client(url);
      const sources = [...Object.values(HARD).map((make) => make('')), ...DEEP];
      const measured = await worstLiveLatency({ pid, url }, async () => {
        let ran = 0;
        for (const x of sources) {
          const step = { Id: 's', StepType: 'NoOp', ErrorBehavior: 'Terminate', Outputs: { x } };
          const Id = fresh('hard');
          const { status } = await post(`${url}/api/definition`, { Id, Steps: [step] });
          // Source that CPython cannot compile is rejected.
          if (status === 400) continue;
          ran += 1;
          const ended = await client.ended(await client.start(Id));
          expect(ended.outcome, x.slice(0, 50)).toBe('Failed');
        }
        return ran;
      });
      expect(measured.answer).toBeGreaterThanOrEqual(DEEP.length);
      expectLively(measured);
      expect(await replacedInterpreters(url)).toBe(0);
    },
  );

  it('is rejected with its position if it is longer', async () => {
    const { url } = await start();
    const long = `data.a${' + 1'.repeat(5_000)}`;
    const { status, body } = await post(`${url}/api/definition`, definitionOf({ fine: '1', long }));
    expect(status).toBe(400);
    expect(body['errors']).toMatchObject([
      { code: 'expression_too_long', pointer: '/Steps/0/Outputs/long' },
    ]);
  });
});
