/** Problems of a document that parsing alone does not find. */
import { describe, expect, it } from 'vitest';
import {
  notPython,
  scriptHint,
  unknownStepType,
} from '../../../src/engine/definitions/late-problems.js';

const POINTER = '/Steps/0/Inputs/Message';

function sentence(source: string, line: number | null = 1, column: number | null = 2): string {
  const syntaxError = { message: 'invalid syntax', line, column };
  return notPython({ source, pointer: POINTER }, syntaxError, () => true).message;
}

describe('an unknown step type', () => {
  it('is reported with the most similar step type', () => {
    expect(unknownStepType({ name: 'Foreech', pointer: '/Steps/0/StepType' })).toEqual({
      code: 'unknown_step_type',
      message:
        'There is no built-in step type or custom step named "Foreech". Did you mean "Foreach"?',
      pointer: '/Steps/0/StepType',
    });
  });

  it('is reported without a suggestion if no step type is similar', () => {
    const { message } = unknownStepType({ name: 'pay-by-card', pointer: '' });
    expect(message).toMatch(/named "pay-by-card"\.$/);
  });
});

describe('an expression that is not valid Python', () => {
  it('is reported with the position of the syntax error', () => {
    const problem = notPython(
      { source: '1 +* 2', pointer: POINTER },
      { message: 'invalid syntax', line: 1, column: 4 },
      () => true,
    );
    expect(problem).toEqual({
      code: 'python_syntax',
      message:
        'Python syntax error in this expression: invalid syntax (column 4 of the expression).',
      pointer: POINTER,
    });
  });

  it('is reported with its line if it has several, and without a position if Python gives none', () => {
    expect(sentence('(1 +\n * 2)', 2, 2)).toMatch(/ \(line 2, column 2 of the expression\)\.$/);
    expect(sentence('1 +* 2', null, null)).toMatch(/: invalid syntax\.$/);
  });

  it.each(['hello world', '00:00:05', 'http://example.com/a?b', '2026-01-01', 'Grüße, Welt!'])(
    'is reported with %s quoted as a string',
    (source) => {
      expect(sentence(` ${source} `)).toContain(` For a literal string, write "'${source}'".`);
    },
  );

  it('is reported with its Python, if it is of another language', () => {
    const expression = { source: 'data.a && data.b', pointer: POINTER };
    const syntaxError = { message: 'invalid syntax', line: 1, column: 8 };
    expect(notPython(expression, syntaxError, () => true)).toEqual({
      code: 'python_syntax',
      message:
        'Python syntax error in this expression: invalid syntax (column 8 of the expression). In Python, "&&" is written "and". Write "data.a and data.b".',
      pointer: POINTER,
      suggestion: 'data.a and data.b',
    });
    expect(notPython(expression, syntaxError, () => false)).not.toHaveProperty('suggestion');
  });

  it('is explained by its line in a script', () => {
    expect(scriptHint('x = 1\r\ny = x && data\r\n', 2)).toBe('. In Python, "&&" is written "and".');
    expect(scriptHint('x = 1', 1)).toBe('');
    expect(scriptHint('x = 1', 7)).toBe('');
    expect(scriptHint('x &&', null)).toBe('');
  });

  it.each(['1 +', '"open', 'data.x and', 'f(', 'x = 1', 'a\nb', 'x '.repeat(40)])(
    'is reported without a hint about quotes: %j',
    (source) => {
      expect(sentence(source)).not.toContain('For a literal string');
    },
  );
});
