/**
 * Goal: `fmt` orders members and loses nothing.
 * Method: small documents with comments, and every definition of the examples, which must be stable and mean the same.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { formatJson } from '../../src/cli/format/format-json.js';
import { formatYaml } from '../../src/cli/format/format-yaml.js';

const EXAMPLES = fileURLToPath(new URL('../../../examples', import.meta.url));
const DEFINITIONS = readdirSync(EXAMPLES, { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.yaml$/.test(file) && !file.includes('node_modules'))
  .map((file) => path.join(EXAMPLES, file));

describe('YAML', () => {
  it('puts members in order, and keeps comments, quotes and unknown members', () => {
    const text = `# The greeting
steps:
    # First step
    - inputs: {text: "'a: b'"}   # quoted
      Extra: 1
      stepType: 'shout'
      id: greet

      # Undo
      compensateWith:
      - stepType: NoOp
        id: undo
id: greeting # its name
`;
    expect(formatYaml(text)).toBe(`# The greeting
id: greeting # its name
steps:
  # First step
  - id: greet
    stepType: 'shout'
    inputs: { text: "'a: b'" } # quoted

    # Undo
    compensateWith:
      - id: undo
        stepType: NoOp
    Extra: 1
`);
  });

  it('does not move members away from their anchors', () => {
    const text = 'steps: &s\n  - stepType: NoOp\n    id: a\nother: *s\nid: b\n';
    expect(Object.keys(parse(formatYaml(text)) as object)).toEqual(['steps', 'other', 'id']);
  });

  it('keeps all digits, long lines and blocks', () => {
    const text = `id: a\nsteps:\n  - id: b\n    stepType: NoOp\n    inputs:\n      n: 123456789012345678901234567890\n      long: ${'word '.repeat(60)}end\n      block: |\n        one\n        two\n`;
    expect(formatYaml(text)).toBe(text);
  });

  it.each(DEFINITIONS)('%s is stable and means the same', (file) => {
    const text = readFileSync(file, 'utf8');
    const once = formatYaml(text);
    expect(formatYaml(once)).toBe(once);
    expect(parse(once)).toEqual(parse(text));
    const comments = (from: string): number =>
      from.split('\n').filter((l) => /^\s*#/.test(l)).length;
    expect(comments(once)).toBe(comments(text));
  });

  it('names the place of a mistake', () => {
    expect(() => formatYaml('id: a\nsteps: [\n')).toThrow(
      expect.objectContaining({ place: { line: 3, column: 1 } }) as Error,
    );
  });

  it('rejects aliases that multiply', () => {
    const rows = ['a0: &a0 [x, x, x, x, x, x, x, x, x]'];
    for (let n = 1; n < 12; n += 1) rows.push(`a${n}: &a${n} [${`*a${n - 1}, `.repeat(9)}]`);
    expect(() => formatYaml(rows.join('\n'))).toThrow('aliases');
  });
});

describe('JSON', () => {
  it('puts members in order and keeps all digits', () => {
    const text =
      '{"steps":[{"stepType":"NoOp","id":"a","inputs":{"n":12345678901234567890}}],"id":"b"}';
    const formatted = formatJson(text);
    expect(formatted).toMatch(/^\{\n {2}"id": "b",\n {2}"steps": \[\n {4}\{\n {6}"id": "a",\n/);
    expect(formatted).toContain('12345678901234567890');
    expect(formatJson(formatted)).toBe(formatted);
  });

  it('names a mistake', () => {
    expect(() => formatJson('{')).toThrow('Invalid JSON');
  });
});
