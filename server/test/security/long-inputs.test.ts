/**
 * S-15: inputs designed to be slow to parse. A parser with quadratic time needs hours for a megabyte; a linear one
 * needs milliseconds. So the limit is generous, and counts only the time of this process.
 */
import { describe, expect, it } from 'vitest';
import { DEFAULT_API_LIMITS } from '../support/default-limits.js';
import { parseJson } from '../../src/api/http/json-format.js';
import { checkedName } from '../../src/api/wire/map/name.js';
import { fromWireTime } from '../../src/api/wire/map/time.js';
import { parseYaml } from '../../src/api/http/yaml-format.js';
import { readHint } from '../../src/backplane/hint-codec.js';
import { parseDurationMs } from '../../src/engine/values/durations.js';
import { decodeCursor } from '../../src/runtime/model/paging.js';
import { readToken } from '../../src/base/ids.js';
import { classifyExpression } from '../../src/scripts/expressions/classify-expression.js';
import { readPlainExpression } from '../../src/scripts/expressions/read-plain-expression.js';
import { step } from '../behavior/support/steps.js';
import { serverForTests } from './support/secured-server.js';

const LENGTH = 1_000_000;
const CPU_MS_MAX = 5_000;

const PATTERNS = [
  'a', ' ', '1', '.', ':', '-', '(', '[', '{', '"', "'", '\\', 'P1', '0:', 'a.', 'a[', '["a"]', '\n', '\n ', '&a *a ', '- ', 'é', '\ud83d',
  ';charset=', '1e', '+', ' or ', 'not ', 'lambda:', 'f"{', '#', '\t', '%', '/', ',', '=', '<<: ',
]; // prettier-ignore

const READERS: Readonly<Record<string, (text: string) => unknown>> = {
  'a duration': (text) => parseDurationMs(text),
  'a duration with a valid start': (text) => parseDurationMs(`P1DT${text}`),
  'a time': (text) => fromWireTime(text, 'startedFrom'),
  'a cursor': (text) => decodeCursor(text, 'workflows'),
  'a token': (text) => readToken(text),
  'a name': (text) => checkedName(text, 'name', LENGTH * 10),
  'a hint of another node': (text) => readHint(text),
  JSON: (text) => parseJson(text, { ...DEFAULT_API_LIMITS, bodyBytesMax: LENGTH * 10 }),
  // The maximum size of such a body.
  YAML: (text) => parseYaml(text.slice(0, DEFAULT_API_LIMITS.yamlBytesMax), DEFAULT_API_LIMITS),
  'an expression': (text) => classifyExpression(text),
  'an expression that needs no Python': (text) => readPlainExpression(text),
  'an expression that is a path': (text) => readPlainExpression(`data.${text}`),
};

describe('a megabyte of repeated text', () => {
  it.each(Object.entries(READERS))(
    'is quickly rejected or read as %s',
    (_what, read) => {
      for (const pattern of PATTERNS) {
        const text = pattern.repeat(Math.ceil(LENGTH / pattern.length));
        for (const whole of [text, `${text}!`, `"${text}`]) {
          const before = process.cpuUsage();
          try {
            read(whole);
          } catch (error) {
            // It may be rejected, but not because the stack was too small.
            expect(error, JSON.stringify(pattern)).not.toBeInstanceOf(RangeError);
          }
          const { system, user } = process.cpuUsage(before);
          expect((system + user) / 1000, JSON.stringify(pattern)).toBeLessThan(CPU_MS_MAX);
        }
      }
    },
    120_000,
  );
});

describe('a long header', () => {
  const at = serverForTests();

  it.each([
    'content-type',
    'accept',
    'authorization',
    'idempotency-key',
    'content-encoding',
    'x-forwarded-for',
  ])('is quickly processed in %s', async (name) => {
    const definition = await at.client.define([step('a', 'NoOp')]);
    for (const pattern of [';charset="', ' ', ',', 'a/b+', 'q=0.1,', 'bearer ', '*/*;']) {
      const value = pattern.repeat(Math.floor(12_000 / pattern.length)).trim();
      const before = process.cpuUsage();
      const answer = await at.client.call('POST', `/api/workflow/${definition}`, {
        body: '{}',
        type: 'application/json',
        headers: { [name]: value },
      });
      const { user } = process.cpuUsage(before);
      expect(answer.status, answer.text).toBeLessThan(500);
      expect(user / 1000).toBeLessThan(CPU_MS_MAX);
    }
  });
});
