/** Goal: tables fit, times read well, and no text of others can control the terminal. */
import { describe, expect, it, vi } from 'vitest';
import { asGithub, asText } from '../../src/cli/output/print-problems.js';
import { jsonText, Output } from '../../src/cli/output/output.js';
import { plain, plainLines } from '../../src/cli/output/plain-text.js';
import { tableOf, type Column } from '../../src/cli/output/table.js';
import { duration, fullTime, relativeTime } from '../../src/cli/output/times.js';

const NO_PAINT = (_style: unknown, text: string): string => text;
const ROWS = [
  { id: '01hx5v3x9t6k2m4n8p0q', text: 'short' },
  { id: '01hx5v3x9t6k2m4n8p0r', text: '漢字'.repeat(30) },
];
const COLUMNS: readonly Column<(typeof ROWS)[number]>[] = [
  { title: 'ID', text: ({ id }) => id },
  { title: 'TEXT', text: ({ text }) => text, canShrink: true },
  { title: 'NOTHING', text: () => '' },
];

describe('a text from outside', () => {
  it.each([
    ['colors and the cursor', '\u001b[31mred\u001b[2J', '\\u001b[31mred\\u001b[2J'],
    ['a title', '\u001b]0;title\u0007', '\\u001b]0;title\\u0007'],
    ['one byte for two', '\u009b31m', '\\u009b31m'],
    ['the direction of text', 'a\u202eb', 'a\\u202eb'],
    ['the line', 'a\rb\nc\td\bx', 'a\\rb\\nc\\td\\u0008x'],
  ])('does not change %s', (_, text, shown) => {
    expect(plain(text)).toBe(shown);
  });

  it('does not forge a line, nor a command to GitHub Actions', () => {
    const message = 'wrong\nother.yaml:1:1: error: forged\n  ::stop-commands::x\r::add-mask::y';
    const file = {
      path: 'a\n::error::b.yaml',
      kind: 'definition',
      text: '',
      unreadable: null,
    } as const;
    const problem = { severity: 'error', code: 'wrong', message } as const;
    const found = { file: { ...file, realPath: file.path }, problems: [problem] };
    const text = asText(found, NO_PAINT);
    const [, ...others] = text.trimEnd().split('\n');
    expect(others).toHaveLength(2);
    for (const line of others) expect(line).toMatch(/^ {2}\| /);
    const commands = asGithub(found).trimEnd().split('\n');
    expect(commands).toHaveLength(1);
  });

  it.each(['line', 'note'] as const)(
    'does not control the terminal, whatever a command gives to %s',
    (method) => {
      const stream = method === 'line' ? process.stdout : process.stderr;
      const write = vi.spyOn(stream, 'write').mockReturnValue(true);
      try {
        new Output()[method](
          '\u001b[32mgood\u001b[39m \u001b[2J\u001b]0;title\u0007\u009b31m\rx\n\ty',
        );
        expect(write.mock.calls.map(([text]) => String(text)).join('')).toBe(
          '\u001b[32mgood\u001b[39m \\u001b[2J\\u001b]0;title\\u0007\\u009b31m\\rx\n\ty\n',
        );
      } finally {
        write.mockRestore();
      }
    },
  );

  it('stays as it is otherwise', () => {
    expect(plain('naïve – 漢字 👩‍🚀')).toBe('naïve – 漢字 👩‍🚀');
    expect(plainLines('a\n\tb\u001b')).toBe('a\n\tb\\u001b');
  });

  it('is the same in JSON that is printed, and changes nothing there', () => {
    const value = { text: '\u001b[31m\u009b2J\u202e', big: 12345678901234567890n };
    const printed = jsonText(value, 2);
    expect(printed).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
    expect(printed).toContain('12345678901234567890');
    expect(JSON.parse(printed)).toMatchObject({ text: value.text });
  });
});

describe('a table', () => {
  it('shortens only the columns that allow it, to the width of the terminal', () => {
    const lines = tableOf(ROWS, COLUMNS, { paint: NO_PAINT, now: 0, widthMax: 41 }).split('\n');
    expect(lines).toEqual([
      'ID                    TEXT',
      '01hx5v3x9t6k2m4n8p0q  short',
      // Each of these characters takes two columns.
      `01hx5v3x9t6k2m4n8p0r  ${'漢字'.repeat(4)}漢…`,
    ]);
  });

  it('shortens nothing without a terminal', () => {
    const text = tableOf(ROWS, COLUMNS, { paint: NO_PAINT, now: 0, widthMax: null });
    expect(text).toContain('漢字'.repeat(30));
  });

  it('leaves out optional columns if shrinking is not enough, the last first', () => {
    const optional = { isOptional: true, text: () => 'x'.repeat(10) };
    const columns = [...COLUMNS, { ...optional, title: 'ONE' }, { ...optional, title: 'TWO' }];
    const titles = (widthMax: number): string =>
      tableOf(ROWS, columns, { paint: NO_PAINT, now: 0, widthMax }).split('\n')[0] ?? '';
    expect(titles(54)).toMatch(/^ID +TEXT +ONE +TWO$/);
    expect(titles(53)).toMatch(/^ID +TEXT +ONE$/);
    expect(titles(41)).toMatch(/^ID +TEXT$/);
  });

  it('keeps ids complete, even if they do not fit', () => {
    const text = tableOf(ROWS, COLUMNS, { paint: NO_PAINT, now: 0, widthMax: 10 });
    expect(text).toContain('01hx5v3x9t6k2m4n8p0r');
  });
});

describe('a time', () => {
  const now = Date.parse('2026-05-04T12:00:00Z');
  it.each([
    [0, 'now'],
    [-1000, '1 second ago'],
    [-3 * 60_000, '3 minutes ago'],
    [2 * 3_600_000, 'in 2 hours'],
    [-3 * 86_400_000, '3 days ago'],
  ])('is written %d ms away as %s', (distance, text) => {
    expect(relativeTime(new Date(now + distance).toISOString(), now)).toBe(text);
  });

  it('is a date if it is more than a week away', () => {
    expect(relativeTime('2026-01-02T12:00:00Z', now)).toMatch(/^2026-01-02 \d\d:\d\d$/);
    expect(fullTime('2026-01-02T12:00:05Z', now)).toMatch(/^2026-01-02 \d\d:\d\d:05$/);
  });

  it.each([
    [12.4, '12 ms'],
    [1234, '1.2 s'],
    [59_900, '60 s'],
    [185_000, '3 min 5 s'],
    [7_800_000, '2 h 10 min'],
    [86_400_000, '1 d'],
  ])('is written for a duration of %d ms as %s', (ms, text) => {
    expect(duration(ms)).toBe(text);
  });
});
