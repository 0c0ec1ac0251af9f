/**
 * Goal: editors accept the files of limits that the reader accepts, and mark most mistakes.
 * Method: random limits in random casing, the examples and a table of mistakes; compares the file in docs/ with the function
 * (update it with `vitest -u`).
 */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { globSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { format } from 'prettier';
import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { limitJsonSchema } from '../../../src/engine/definitions/limit-json-schema.js';
import { readLimitFile } from '../../../src/test-kit/files/limit-file.js';
import { anyCasing } from './random-documents.js';

const ROOT = new URL('../../../../', import.meta.url);
const validate = new Ajv2020({ strict: false }).compile(limitJsonSchema());

/** A map with any of these members, in any casing. */
function members(values: Record<string, fc.Arbitrary<unknown>>, required: readonly string[]) {
  return fc
    .tuple(fc.record(values, { requiredKeys: [...required] }), anyCasing)
    .map(([record, recase]) =>
      Object.fromEntries(Object.entries(record).map(([name, value]) => [recase(name), value])),
    );
}

const orNull = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { freq: 4 });
const number = fc.integer({ min: 0, max: 110_000 });
const rate = members(
  {
    Count: number,
    Per: fc.constantFrom(1, 90, '1m', '1 day', 'PT1H', 'soon'),
    Burst: orNull(fc.integer({ min: 0, max: 20 })),
  },
  ['Count', 'Per'],
);
const limit = members(
  {
    Name: fc.constantFrom('pay-api', 7, 'mail_2.0'),
    Description: orNull(fc.constantFrom('Of the provider', 3)),
    Concurrency: orNull(number),
    Rate: orNull(rate),
  },
  ['Name'],
);

describe('the schema of files of limits', () => {
  it('accepts every file that the reader accepts', () => {
    let accepted = 0;
    fc.assert(
      fc.property(limit, (document) => {
        if (readLimitFile(stringify(document)).limit === null) return;
        accepted += 1;
        validate(document);
        expect(validate.errors ?? []).toEqual([]);
      }),
    );
    expect(accepted).toBeGreaterThan(0);
  });

  it.each([
    ['no name', { Concurrency: 1 }],
    ['neither a concurrency nor a rate', { Name: 'a', Concurrency: null }],
    ['an unknown member', { Name: 'a', Concurency: 1 }],
    ['a concurrency of 0', { Name: 'a', Concurrency: 0 }],
    ['a rate without a period', { Name: 'a', Rate: { Count: 1 } }],
    ['a period that is a list', { Name: 'a', Rate: { Count: 1, Per: [1] } }],
    ['an unknown member of a rate', { Name: 'a', Rate: { Count: 1, Per: '1s', Bursts: 1 } }],
    ['a list', []],
  ])('rejects %s, as the reader does', (_, document) => {
    expect(readLimitFile(stringify(document)).limit).toBeNull();
    expect(validate(document)).toBe(false);
  });

  it.each(globSync('examples/*/*.limit.yaml', { cwd: ROOT }))('accepts %s', (name) => {
    validate(parse(readFileSync(new URL(name, ROOT), 'utf8')));
    expect(validate.errors ?? []).toEqual([]);
  });

  it('is the schema that the documentation publishes', async () => {
    const json = JSON.stringify(limitJsonSchema(), null, 2);
    const formatted = await format(json, { parser: 'json', printWidth: 100 });
    await expect(formatted).toMatchFileSnapshot('../../../../docs/limit.schema.json');
  });
});
