/** Random index fields and conditions, over few names and values, so that they meet. */
import fc from 'fast-check';
import type { IndexValue } from '../../../src/engine/values/index-fields.js';
import type { IndexCondition } from '../../../src/store/records/index-conditions.js';

export const fieldName = fc.constantFrom('a', 'b', '__proto__');
/** Values that a careless encoding would confuse or put into the wrong order. */
const TEXTS = [
  '',
  'a',
  'ab',
  'b',
  '7',
  'true',
  '\uffff',
  '\u{1f600}',
  'é\u0000',
  '\u0001',
  '\ud7ff',
  '\ud800',
];
const NUMBERS = [0, 7, -7, 0.5, -0.5, 70, 1e21, 5e-324, 2n ** 53n, 2n ** 53n + 1n, -(2n ** 64n)];
const indexValue: fc.Arbitrary<IndexValue> = fc.constantFrom<IndexValue>(
  ...TEXTS,
  ...NUMBERS,
  true,
  false,
);
export const indexFields = fc.dictionary(
  fieldName,
  fc.oneof(indexValue, fc.array(indexValue, { minLength: 1, maxLength: 3 })),
  { maxKeys: 2 },
);
export const condition: fc.Arbitrary<IndexCondition> = fc
  .record({
    of: fc.constantFrom('tag', 'field'),
    name: fieldName,
    operator: fc.constantFrom('=', '!=', '<', '<=', '>', '>=', '^='),
    values: fc.oneof(
      indexValue.map((value) => [value]),
      fc.constantFrom<IndexValue[]>([7, '7'], [true, 'true']),
    ),
  })
  .map((each) =>
    // Only text has a beginning.
    each.operator === '^=' ? { ...each, values: [String(each.values.at(-1))] } : each,
  );

export const failureKey = fc.constantFrom('k1', 'k2', 'l1');
const failureText = fc.constantFrom('', 'x', '\ud800', 'é\u0000');
export const failure = fc.record({
  key: failureKey,
  stepId: failureText,
  type: failureText,
  message: failureText,
});
