/**
 * Goal: editors accept the files of tests that the reader accepts, and mark most mistakes.
 * Method: random files in random casing, the examples and a table of mistakes; compares the file in docs/ with the function
 * (update it with `vitest -u`).
 */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { globSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { format } from 'prettier';
import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { readTestFile } from '../../../src/test-kit/files/read-test-file.js';
import { testFileJsonSchema } from '../../../src/test-kit/files/json-schema.js';
import { anyCasing } from '../../engine/definitions/random-documents.js';

const ROOT = new URL('../../../../', import.meta.url);
const validate = new Ajv2020({ strict: false }).compile(testFileJsonSchema());

const text = fc.stringMatching(/^[a-z]{1,8}$/);
const anything = fc.jsonValue({ maxDepth: 2 });
const map = fc.dictionary(text, anything, { maxKeys: 3 });

/** A map with any of these members, in any casing. */
function members(values: Record<string, fc.Arbitrary<unknown>>, required: readonly string[] = []) {
  return fc
    .tuple(fc.record(values, { requiredKeys: [...required] }), anyCasing)
    .map(([record, recase]) =>
      Object.fromEntries(Object.entries(record).map(([name, value]) => [recase(name), value])),
    );
}

const one = (values: Record<string, fc.Arbitrary<unknown>>) =>
  fc.oneof(...Object.entries(values).map(([name, value]) => members({ [name]: value }, [name])));

const response = members({ Status: fc.integer(), Body: anything, Headers: map });
const answer = fc.oneof(
  one({ Result: anything, Response: response }),
  members({ Fail: anything, Retryable: fc.boolean() }, ['Fail']),
);
const expectation = members({
  Status: fc.constantFrom('Complete', 'suspended'),
  Outcome: fc.constantFrom('Failed', 'succeeded', null),
  Data: map,
  Tags: fc.dictionary(text, text),
  Error: map,
  Calls: fc.dictionary(text, fc.nat(9)),
  Steps: fc.array(text),
  Waiting: fc.array(fc.oneof(text, fc.nat(9))),
  Snapshot: fc.boolean(),
});
const event = members({ Name: text, Key: text, Data: anything }, ['Name']);
const action = one({
  Advance: fc.constantFrom('3d', '2h 30m', 'PT1H', 45),
  Publish: event,
  Expect: expectation,
});
const testCase = (name: string) =>
  members(
    {
      Name: fc.constant(name),
      Start: map,
      Reference: fc.oneof(text, fc.nat(), fc.constant(null)),
      Tags: fc.dictionary(text, text),
      Now: fc.constant('2030-01-31T09:00:00Z'),
      Seed: fc.integer(),
      Environment: fc.dictionary(text, text),
      Secrets: fc.dictionary(
        fc.stringMatching(/^[A-Za-z]\w{0,9}$/),
        fc.oneof(text, fc.constant(null)),
      ),
      Mocks: fc.dictionary(text, fc.oneof(answer, fc.array(answer))),
      Then: fc.array(action, { maxLength: 3 }),
      Expect: expectation,
    },
    ['Name'],
  );
const file = members(
  {
    Definition: text,
    Uses: fc.array(text),
    Cases: fc.tuple(testCase('first'), testCase('second')),
  },
  ['Definition', 'Cases'],
);

describe('the schema of files of tests', () => {
  it('accepts every file that the reader accepts', () => {
    fc.assert(
      fc.property(file, (document) => {
        readTestFile(stringify(document));
        validate(document);
        expect(validate.errors ?? []).toEqual([]);
      }),
    );
  });

  it.each([
    ['no definition', { Cases: [{ Name: 'a' }] }],
    ['no case', { Definition: 'a.yaml', Cases: [] }],
    ['a case without a name', { Definition: 'a.yaml', Cases: [{}] }],
    ['an unknown member', { Definition: 'a.yaml', Cases: [{ Name: 'a', Mock: {} }] }],
    [
      'two answers in one',
      { Definition: 'a.yaml', Cases: [{ Name: 'a', Mocks: { x: { Result: 1, Fail: 'no' } } }] },
    ],
    [
      'two actions in one',
      { Definition: 'a.yaml', Cases: [{ Name: 'a', Then: [{ Advance: '1d', Expect: {} }] }] },
    ],
    [
      'an unknown status',
      { Definition: 'a.yaml', Cases: [{ Name: 'a', Expect: { Status: 'Done' } }] },
    ],
    [
      'an event without a name',
      { Definition: 'a.yaml', Cases: [{ Name: 'a', Then: [{ Publish: { Key: 'k' } }] }] },
    ],
    [
      'a number of calls that is a text',
      { Definition: 'a.yaml', Cases: [{ Name: 'a', Expect: { Calls: { x: 'often' } } }] },
    ],
  ])('rejects %s, as the reader does', (_, document) => {
    expect(() => readTestFile(stringify(document))).toThrow();
    expect(validate(document)).toBe(false);
  });

  it.each(globSync('examples/*/*.test.yaml', { cwd: ROOT }))('accepts %s', (name) => {
    validate(parse(readFileSync(new URL(name, ROOT), 'utf8')));
    expect(validate.errors ?? []).toEqual([]);
  });

  it('is the schema that the documentation publishes', async () => {
    const json = JSON.stringify(testFileJsonSchema(), null, 2);
    const formatted = await format(json, { parser: 'json', printWidth: 100 });
    await expect(formatted).toMatchFileSnapshot('../../../../docs/test-file.schema.json');
  });
});
