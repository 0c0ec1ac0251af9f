/** Compares the values that the server computes without Python with Python's values: the JSON text must be the same. */
import { spawnSync } from 'node:child_process';
import { expect } from 'vitest';
import { readJson, writeJson } from '../../../src/engine/values/exact-json.js';
import type { JsonObject } from '../../../src/engine/values/json.js';
import { evaluatePlain } from '../../../src/scripts/expressions/evaluate-plain-expression.js';
import { prepareExpression } from '../../../src/scripts/expressions/prepare-expression.js';
import { readPlainExpression } from '../../../src/scripts/expressions/read-plain-expression.js';
import type { ScriptRuntime } from '../../../src/scripts/script-runtime.js';

export interface Answered {
  readonly source: string;
  readonly json: string;
}

/** The expressions that need no Python, with their values. */
export function answerHere(sources: readonly string[], data: JsonObject): readonly Answered[] {
  return sources.flatMap((source) => {
    const plain = readPlainExpression(prepareExpression(source).text);
    const variables = { data, context: {}, environment: {} };
    const value = plain === null ? undefined : evaluatePlain(plain, variables);
    return value === undefined ? [] : [{ source, json: writeJson(value) }];
  });
}

/** @returns the number of expressions that need no Python; all of them have the same value in Python */
export async function expectAgreement(
  runtime: ScriptRuntime,
  sources: readonly string[],
  data: JsonObject,
): Promise<number> {
  const answered = answerHere(sources, data);
  // One expression that only Python can evaluate makes Python evaluate all of them.
  const expressions = [...answered, { source: '[*data]' }].map(({ source }) => ({ source }));
  const result = await runtime.evaluate(expressions, { data, context: {} });
  if (!result.ok) {
    const { source } = expressions[result.index]!;
    throw new Error(`${source} with ${writeJson(data)}: ${result.error.message}`);
  }
  const inPython = answered.map(({ source }, index) => ({
    source,
    json: writeJson(result.values[index]!),
  }));
  expect(answered, writeJson(data)).toEqual(inPython);
  return answered.length;
}

/** It shares nothing with our code: numbers need no special treatment there. */
const REFERENCE = `
import sys, json
class Fields(dict):
    def __getattribute__(self, name):
        return self[name]
def plain(value):
    if isinstance(value, dict): return {key: plain(value[key]) for key in value}
    return [plain(item) for item in value] if isinstance(value, list) else value
answers = []
for text, sources in json.load(sys.stdin):
    data = json.loads(text, object_hook=Fields)
    answers.append([json.dumps(plain(eval(source, {"data": data})), allow_nan=False) for source in sources])
print(json.dumps(answers))
`;

/** @throws Error if CPython fails for one of them */
export function answerInCPython(
  sets: readonly (readonly [data: JsonObject, sources: readonly string[]])[],
): readonly (readonly string[])[] {
  const { stdout, stderr } = spawnSync('python3', ['-W', 'ignore', '-c', REFERENCE], {
    input: JSON.stringify(sets.map(([data, sources]) => [writeJson(data), sources])),
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  });
  if (stdout === '') throw new Error(stderr);
  const answers = JSON.parse(stdout) as string[][];
  return answers.map((texts) => texts.map((text) => writeJson(readJson(text))));
}
