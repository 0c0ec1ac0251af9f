/**
 * S-34 to S-37 on the built server: documents and responses that are costly to check, to locate or to write. Other
 * requests are served in the meantime, as a process beside the server measures.
 */
import { describe, expect, it } from 'vitest';
import { startProcess, temporaryFolder } from '../behavior/support/server-process.js';
import type { SpawnedServer } from '../support/spawned-server.js';
import { expectLively, worstLiveLatency } from './support/live-latency.js';

const YAML = 'application/yaml';

async function start(environment: Readonly<Record<string, string>> = {}): Promise<SpawnedServer> {
  return startProcess({ PORT: '0', DATA_DIR: await temporaryFolder(), ...environment });
}

async function post(url: string, body: string, type = 'application/json') {
  const response = await fetch(url, { method: 'POST', body, headers: { 'content-type': type } });
  return { status: response.status, text: await response.text() };
}

/** Expressions that are not valid Python, multiplied by aliases. */
function aliasedProblems(count: number): string {
  const fields = Array.from({ length: 1000 }, (_, at) => `    "@f${at}": a b`).join('\n');
  const uses = Array.from({ length: count }, (_, at) => `{Id: s${at}, StepType: X, Inputs: *i}`);
  return `Id: d\nx: &i\n  a:\n${fields}\nSteps:\n${uses.map((use) => `  - ${use}`).join('\n')}\n`;
}

describe('a definition with very many problems (S-34)', () => {
  it(
    'is rejected with the first hundred, and delays no other request',
    { timeout: 120_000 },
    async () => {
      const { pid, url } = await start();
      const body = aliasedProblems(45);
      const measured = await worstLiveLatency({ pid, url }, () =>
        post(`${url}/api/definition/validate`, body, YAML),
      );
      const { errors } = JSON.parse(measured.answer.text) as { errors: { code: string }[] };
      expect(errors).toHaveLength(101);
      expect(errors.at(-1)).toMatchObject({ code: 'too_many_problems' });
      expectLively(measured);
    },
  );

  it('is rejected as fast in JSON with a different expression in each step', async () => {
    const { pid, url } = await start();
    const fields = Array.from({ length: 22_500 }, (_, at) => [`@${at}`, `a ${at}`] as const);
    const step = { Id: 's', StepType: 'X', Inputs: { i: Object.fromEntries(fields) } };
    const body = JSON.stringify({ Id: 'd', Steps: [step] });
    const measured = await worstLiveLatency({ pid, url }, () =>
      post(`${url}/api/definition/validate`, body),
    );
    const { errors } = JSON.parse(measured.answer.text) as { errors: { code: string }[] };
    expect(errors).toHaveLength(101);
    expectLively(measured);
  });
});
