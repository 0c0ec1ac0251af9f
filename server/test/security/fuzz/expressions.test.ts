/**
 * S-23d: random expressions, in the sandbox and in the machine's own CPython: equal values, or errors of the same type.
 * `scripts/pyodide/differential.test.ts` has the fixed list and more about the comparison.
 */
import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { readJson, writeJson } from '../../../src/engine/values/exact-json.js';
import type { Json, JsonObject } from '../../../src/engine/values/json.js';
import {
  plainData,
  plainSource,
  wordSalad,
} from '../../scripts/expressions/random-plain-expressions.js';
import { expectAgreement } from '../../scripts/pyodide/plain-agreement.js';
import { startRuntime, type StartedRuntime } from '../../scripts/pyodide/start-runtime.js';
import { itSurvives } from './fuzz.js';

/** Skips integers that are too long to be stored, and differences between versions of Python: `skip`. */
const REFERENCE = `
import sys, json
def holds(value, depth=0):
    if depth > 40: return False
    if isinstance(value, bool) or value is None: return True
    if isinstance(value, int): return abs(value) < 10**1000
    if isinstance(value, float): return value == value and abs(value) != float("inf")
    if isinstance(value, str): return value.isprintable() and len(value) < 10000
    if isinstance(value, (list, tuple)): return all(holds(item, depth + 1) for item in value)
    if isinstance(value, dict): return all(isinstance(key, str) for key in value) and all(holds(item, depth + 1) for item in value.values())
    return False
data, sources = json.load(sys.stdin)
answers = []
for source in sources:
    try:
        value = eval(source, {"data": data})
        answers.append({"value": value} if holds(value) else {"skip": True})
    except (RecursionError, MemoryError, OverflowError, SyntaxError):
        answers.append({"skip": True})
    except Exception as error:
        answers.append({"error": type(error).__name__})
print(json.dumps(answers))
`;

interface ReferenceAnswer {
  readonly value?: Json;
  readonly error?: string;
  readonly skip?: boolean;
}

const DATA: JsonObject = {
  n: 7, neg: -3, f: 2.75, zero: 0, s: 'Hello, World', u: 'äß😀', e: '', t: true, none: null,
  l: [3, 1, 2], words: ['pear', 'Apple'], d: { x: 1, y: { z: [1, 2] } },
}; // prettier-ignore

const hasPython =
  spawnSync('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 9))']).status === 0;

/** Since 3.12, the version in the sandbox, sums of floats are exact and slices are hashable. */
const isSameKind =
  spawnSync('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 12))']).status === 0;

const leaf = fc.oneof(
  fc.integer({ min: -9, max: 99 }).map(String),
  fc.constantFrom(
    '0.5',
    '-1.25',
    '"a"',
    '"Bc,d"',
    '""',
    '[1, 2]',
    '[]',
    '{}',
    'True',
    'None',
    '()',
  ),
  fc.constantFrom(...Object.keys(DATA)).map((name) => `data["${name}"]`),
);

const { expression } = fc.letrec<{ expression: string }>((tie) => {
  const inner = tie('expression');
  const operator = fc.constantFrom(
    '+', '-', '*', '/', '//', '%', '==', '!=', '<', '<=', '>', 'and', 'or', 'in', 'not in', 'is', '&', '|', '^',
  ); // prettier-ignore
  const method = fc.constantFrom(
    'upper()', 'lower()', 'strip()', 'split(",")', 'title()', 'keys()', 'get("x")', 'get("x", 5)', 'index(1)', 'count("l")',
    'startswith("H")', 'replace("l", "L")', 'join(["a", "b"])', 'copy()', 'zfill(4)', 'find("o")', 'isdigit()', 'nope()', 'values()',
  ); // prettier-ignore
  const builtin = fc.constantFrom(
    'str', 'len', 'sorted', 'list', 'sum', 'max', 'min', 'abs', 'round', 'int', 'float', 'bool', 'any', 'all', 'repr', 'tuple',
    'type', 'reversed', 'enumerate', 'ord', 'chr', 'bin', 'hex', 'dict',
  ); // prettier-ignore
  return {
    expression: fc.oneof(
      { maxDepth: 5, withCrossShrink: true },
      leaf,
      fc.tuple(inner, operator, inner).map(([a, o, b]) => `(${a} ${o} ${b})`),
      fc.tuple(inner, method).map(([a, m]) => `(${a}).${m}`),
      fc.tuple(builtin, inner).map(([f, a]) => `${f}(${a})`),
      fc.tuple(inner, inner).map(([a, b]) => `(${a})[${b}]`),
      fc.tuple(inner, leaf, leaf).map(([a, b, c]) => `(${a})[${b}:${c}]`),
      fc.tuple(inner, inner, inner).map(([a, b, c]) => `(${a} if ${b} else ${c})`),
      fc.tuple(inner, inner).map(([a, b]) => `[x for x in ${a} if ${b}]`),
      fc.tuple(inner, inner).map(([a, b]) => `{str(k): ${a} for k in ${b}}`),
      fc.tuple(inner, inner).map(([a, b]) => `(lambda x: ${a})(${b})`),
      fc.tuple(inner, inner).map(([a, b]) => `[${a}, *${b}]`),
      fc.tuple(inner, inner).map(([a, b]) => `"{} {:>5}".format(${a}, ${b})`),
      inner.map((a) => `not ${a}`),
    ),
  };
});

/** Whether a value contains addresses or names of classes, which no version guarantees, even split into characters. */
function isUnspecified(value: unknown): boolean {
  const text = writeJson(value ?? null);
  if (/ at 0x|0x[0-9a-f]{3}|<(class|built-in|function)/.test(text.replaceAll('","', '')))
    return true;
  return Array.from('<object at 0x>').every((letter) => text.includes(letter));
}

describe.runIf(hasPython)('expressions', () => {
  let started: StartedRuntime;
  beforeAll(async () => {
    started = await startRuntime({ expressionTimeoutMs: 10_000 });
  });
  afterAll(() => started.runtime.stop());

  itSurvives('expressions in the sandbox and in CPython', async (chance) => {
    const sources = fc
      .sample(expression, { numRuns: 100, seed: chance.int(2 ** 31) })
      .filter((source) => source.length < 2000 && (isSameKind || !source.includes('sum(')));
    const { stdout, stderr } = spawnSync('python3', ['-W', 'ignore', '-c', REFERENCE], {
      input: writeJson([DATA, sources]),
      encoding: 'utf8',
      maxBuffer: 1 << 28,
    });
    if (stdout === '') throw new Error(stderr);
    const expected = readJson(stdout) as unknown as ReferenceAnswer[];
    for (const [index, source] of sources.entries()) {
      const { error, skip, value } = expected[index]!;
      if (skip === true || isUnspecified(value)) continue;
      const result = await started.evaluate(source, DATA);
      const actual = result.ok ? { value: result.values[0] } : { error: result.error.type };
      if (!isSameKind && error === 'TypeError' && actual.error === 'KeyError') continue;
      const wanted = error === undefined ? { value } : { error };
      expect({ source, ...actual }).toEqual({ source, ...wanted });
    }
  });
});

describe('expressions that need no Python', () => {
  let started: StartedRuntime;
  beforeAll(async () => {
    started = await startRuntime({ expressionTimeoutMs: 10_000 });
  });
  afterAll(() => started.runtime.stop());

  itSurvives('the same in the server and in Python', async (chance) => {
    const data = chance.sample(plainData);
    for (const arbitrary of [plainSource, wordSalad]) {
      const sources = fc.sample(arbitrary, { numRuns: 100, seed: chance.int(2 ** 31) });
      await expectAgreement(started.runtime, sources, data);
    }
  });
});
