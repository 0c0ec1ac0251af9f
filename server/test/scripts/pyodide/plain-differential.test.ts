/**
 * X1: random expressions over random data, in the server, in Pyodide and in the machine's own CPython (skipped if there
 * is no python3). An expression that the server leaves to Python is not compared; the test counts them, so that the
 * server does not leave too many. Always the same expressions; `test/security/fuzz/` uses different ones.
 */
import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeJson } from '../../../src/engine/values/exact-json.js';
import type { JsonObject } from '../../../src/engine/values/json.js';
import { plainData, plainSource, wordSalad } from '../expressions/random-plain-expressions.js';
import { answerHere, answerInCPython, expectAgreement } from './plain-agreement.js';
import { startRuntime, type StartedRuntime } from './start-runtime.js';

const SETS = 25;
const SOURCES_EACH = 120;

const hasPython =
  spawnSync('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 9))']).status === 0;

function samples(arbitrary: fc.Arbitrary<string>, seed: number): [JsonObject, string[]][] {
  const data = fc.sample(plainData, { numRuns: SETS, seed });
  return data.map((fields, index) => [
    fields,
    fc.sample(arbitrary, { numRuns: SOURCES_EACH, seed: seed + index + 1 }),
  ]);
}

describe('an expression evaluated without Python', () => {
  let started: StartedRuntime;
  beforeAll(async () => {
    started = await startRuntime({ expressionTimeoutMs: 10_000 });
  });
  afterAll(() => started.runtime.stop());

  it.each([
    ['expressions', plainSource, 0.2],
    ['words in random order', wordSalad, 0.03],
  ])('has the value that Pyodide returns, for %s', async (_what, arbitrary, share) => {
    let count = 0;
    for (const [data, sources] of samples(arbitrary, 8_000)) {
      count += await expectAgreement(started.runtime, sources, data);
    }
    expect(count).toBeGreaterThan(share * SETS * SOURCES_EACH);
  });

  it.runIf(hasPython)('has the value that CPython returns', () => {
    const answered = samples(plainSource, 9_000).map(
      ([data, sources]) => [data, answerHere(sources, data)] as const,
    );
    const expected = answerInCPython(
      answered.map(([data, here]) => [data, here.map(({ source }) => source)]),
    );
    for (const [index, [data, here]] of answered.entries()) {
      const inPython = here.map(({ source }, place) => ({
        source,
        json: expected[index]?.[place],
      }));
      expect(here, writeJson(data)).toEqual(inPython);
    }
  });
});
