/** Source files have at most 400 lines, tests included, so that each has one subject. */
import { describe, expect, it } from 'vitest';
import { textOf, TRACKED } from './tracked-files.js';

const LINES_MAX = 400;

/** Each with the reason why it may be longer. */
const LONGER = new Map([
  ['sdk/src/generated/schema.ts', 'generated'],
  ['server/src/scripts/pyodide/runner.py', 'read as one text into a sealed interpreter'],
]);

const lengths = TRACKED.filter((file) => /\.(ts|tsx|mjs|js|css|py|sql|sh)$/.test(file)).map(
  (file) => ({ file, lines: textOf(file).split('\n').length - 1 }),
);

describe('a source file', () => {
  it('has at most 400 lines', () => {
    const tooLong = lengths.filter(({ file, lines }) => lines > LINES_MAX && !LONGER.has(file));
    expect(tooLong).toEqual([]);
  });

  it('loses its exception when it becomes shorter', () => {
    const long = lengths.filter(({ lines }) => lines > LINES_MAX).map(({ file }) => file);
    expect([...LONGER.keys()].filter((file) => !long.includes(file))).toEqual([]);
  });
});
