/**
 * Goal: reading and writing in parts has exactly the same result as at once.
 * Method: small values are repeated until they are long, nested and side by side; and texts with one wrong character.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readJson, writeJson } from '../../../src/engine/values/exact-json.js';
import { writeJsonParts } from '../../../src/engine/values/json-parts.js';
import type { Json } from '../../../src/engine/values/json.js';
import { readJsonParts } from '../../../src/engine/values/read-json-parts.js';
import { allParts, LONG_VALUES } from '../support/long-values.js';
import { propertyRuns } from '../../support/property-runs.js';

describe('JSON in parts', () => {
  it(
    'concatenates to the same text as JSON in one piece, and reads as the same value',
    { timeout: 120_000 },
    () => {
      let most = 0;
      const property = fc.property(LONG_VALUES, (value) => {
        const text = writeJson(value);
        expect(allParts(writeJsonParts(value)).result === text).toBe(true);
        const { count, result } = allParts(readJsonParts(text));
        expect(writeJson(result) === text).toBe(true);
        most = Math.max(most, count);
      });
      fc.assert(property, propertyRuns(25));
      expect(most).toBeGreaterThan(5);
    },
  );

  it('is rejected where the parser rejects it', () => {
    const items = '{"a":[1,"b"],"c":{}},'.repeat(8_000);
    const text = `{"long":[${items}{}], "other" : {"x":[${items}2]} , "last":1}`;
    expect(allParts(readJsonParts(text)).result).toEqual(JSON.parse(text));
    const marks = ['', ',', ':', '"', '[', ']', '{', '}', 'x', ' ', '\\', '\u0000'];
    const long = [text.indexOf('['), text.indexOf(']', items.length), text.lastIndexOf('[{')];
    const near = long.flatMap((at) => Array.from({ length: 6 }, (_, by) => at - 3 + by));
    for (const at of [0, 1, text.length - 1, text.length, ...near]) {
      for (const mark of marks) {
        const odd = text.slice(0, at) + mark + text.slice(at + 1);
        expect(outcomeOf(() => allParts(readJsonParts(odd)).result)).toBe(
          outcomeOf(() => readJson(odd)),
        );
      }
    }
  }, 120_000);
});

function outcomeOf(read: () => Json): string {
  try {
    return `value of ${writeJson(read()).length} characters`;
  } catch (error) {
    return String(error);
  }
}
