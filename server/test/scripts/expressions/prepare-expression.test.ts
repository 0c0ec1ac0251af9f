/** The text that CPython compiles, and the mapping of its positions to the source. */
import { describe, expect, it } from 'vitest';
import {
  placeInSource,
  prepareExpression,
} from '../../../src/scripts/expressions/prepare-expression.js';

describe('prepareExpression', () => {
  it.each([
    ['data.a', 'data.a'],
    ['  data.a \n', 'data.a'],
    ['\n\n  a +\n  b', '(a +\n  b\n)'],
    ['a +\r\nb', '(a +\nb\n)'],
    ['a # x\n+ b # y', '(a # x\n+ b # y\n)'],
    ['a,\nb', '(a,\nb\n)'],
    // Parentheses would turn these into something valid, or change their meaning.
    ['a) + (\nb', 'a) + (\nb'],
    ['a)\n+ (b', 'a)\n+ (b'],
    ['x for x\nin y', 'x for x\nin y'],
    ['"""a\nb"""', '("""a\nb"""\n)'],
    ['', ''],
    [' \n\t\f', ''],
    ['\t \f\na\f \t\n', 'a'],
  ])('transforms %j into %j', (source, text) => {
    expect(prepareExpression(source).text).toBe(text);
  });

  it('maps positions back to the source', () => {
    const padded = prepareExpression('\n\n  a + +');
    expect(placeInSource(padded, 1, 5)).toEqual({ line: 3, column: 7 });
    const enclosed = prepareExpression('  a +\n b + +');
    expect(placeInSource(enclosed, 1, 2)).toEqual({ line: 1, column: 3 });
    expect(placeInSource(enclosed, 2, 4)).toEqual({ line: 2, column: 4 });
    expect(placeInSource(enclosed, 1, null)).toEqual({ line: 1, column: null });
  });
});
