/** Goal: an operator that does not exist is refused with the one that was meant, and never taken for the text after it. */
import { describe, expect, test } from 'vitest';
import {
  parseConditions,
  readStoredConditions,
} from '../../../src/runtime/model/parse-condition.js';

function problemOf(text: string): string {
  try {
    parseConditions([text]);
  } catch (error) {
    return (error as Error).message;
  }
  return '';
}

describe('a condition', () => {
  test.each([
    ['total=>700', '=>', '>='],
    ['total=<700', '=<', '<='],
    ['total==700', '==', '='],
    ['total===700', '===', '='],
    ['total<>700', '<>', '!='],
    ['tag.team!==billing', '!==', '!='],
    ['total=>"700"', '=>', '>='],
  ])('refuses %s, and says which operator was meant', (text, written, meant) => {
    const value = text.charAt(text.indexOf(written) + (written.startsWith('!') ? 2 : 1));
    expect(problemOf(text)).toBe(
      `The condition ${JSON.stringify(text)} is invalid: ${written} isn't an operator. Did you mean ${meant}? Write a value that begins with ${value} in double quotes`,
    );
  });

  test.each(['a=>=1', 'a>>1', 'a><1', 'a^==b', `a=${'>'.repeat(900)}`])(
    'refuses %s, which resembles several operators',
    (text) => {
      expect(problemOf(text)).toMatch(/[<>=]+ isn't an operator\. Write a value that begins with/);
    },
  );

  test.each([
    ['total=">700"', '=', '>700'],
    ['a!="=b"', '!=', '=b'],
    ['a^="<"', '^=', '<'],
    ['a=b=c', '=', 'b=c'],
    ['a=-1>2', '=', '-1>2'],
    ['url=https://x.example/?a==b', '=', 'https://x.example/?a==b'],
  ])('reads %s, whose operators belong to the value', (text, operator, value) => {
    expect(parseConditions([text])).toMatchObject([{ operator, values: [value] }]);
  });

  test('is read as an earlier version meant it where it is stored', () => {
    expect(readStoredConditions(['total=>700'])).toMatchObject([
      { name: 'total', operator: '=', values: ['>700'] },
    ]);
  });
});
