/**
 * Goal: what people write who know other languages gets the Python text to write instead, and Python gets no hint.
 * Method: a table of mistakes with their Python, and expressions that are right.
 */
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rewriteConditionals } from '../../../src/engine/definitions/foreign/conditional-operator.js';
import { findDashedField } from '../../../src/engine/definitions/foreign/dashed-field.js';
import {
  findForeignSyntax,
  foreignHint,
} from '../../../src/engine/definitions/foreign/foreign-syntax.js';
import { maskLiterals } from '../../../src/engine/definitions/foreign/masked-code.js';
import { examineExpression } from '../../../src/scripts/expressions/examine-expression.js';

function hintFor(source: string) {
  const foreign = findForeignSyntax(source);
  return foreign === null
    ? null
    : foreignHint(foreign, (text) => examineExpression(text)?.unknownNames.length === 0);
}

describe('syntax of another language', () => {
  it.each([
    ['{{ data.x }}', 'data.x'],
    ['{{data.x}} + 1', 'data.x + 1'],
    ['${data.x}', 'data.x'],
    ['${{ data.x }}', 'data.x'],
    ['<%= data.x %>', 'data.x'],
    ['={{ $json.x }}', 'data.x'],
    ['=data.x', 'data.x'],
    ['$data.x', 'data.x'],
    ['$.x', 'data.x'],
    ['Hello {{ data.name }}', "f'Hello {data.name}'"],
    ['"It\'s {{ data.x }}"', 'f"It\'s {data.x}"'],
    ['`Hello ${data.name}!`', "f'Hello {data.name}!'"],
    ['`Hello`', "'Hello'"],
    ['data.a && data.b', 'data.a and data.b'],
    ['data.a||!data.b', 'data.a or not data.b'],
    ['!data.a', 'not data.a'],
    ['data.a AND NOT data.b', 'data.a and not data.b'],
    ['data.a === "&&"', 'data.a == "&&"'],
    ['data.a !== 1', 'data.a != 1'],
    ['data.a <> 1', 'data.a != 1'],
    ['data.total => 700', 'data.total >= 700'],
    ['data.total =< 700', 'data.total <= 700'],
    ['data.a == null', 'data.a is None'],
    ['data.a != null', 'data.a is not None'],
    ['data.a == undefined', 'data.a is None'],
    ['data.a == true', 'data.a == True'],
    ['[false, null]', '[False, None]'],
    ['data.total > 5 ? "many" : "few"', '"many" if data.total > 5 else "few"'],
    ['len(data.a ? "x?" : data.b)', 'len("x?" if data.a else data.b)'],
    ['data.a ? 1 : data.b ? 2 : 3', '1 if data.a else 2 if data.b else 3'],
    ['data.class', 'data["class"]'],
    ['data.from.y + data.in', 'data["from"].y + data["in"]'],
    ['data.lines.0.sku', 'data.lines[0].sku'],
    ['DateTime.Now', 'datetime.now(timezone.utc)'],
    ['DateTime.UtcNow', 'datetime.now(timezone.utc)'],
    ['new Date()', 'datetime.now(timezone.utc)'],
    ['Date.now()', 'datetime.now(timezone.utc)'],
    ['Guid.NewGuid()', 'str(uuid.uuid4())'],
    ['Math.round(data.x)', 'round(data.x)'],
    ['JSON.stringify(data.x)', 'json.dumps(data.x)'],
    ['parseInt(data.x)', 'int(data.x)'],
    ['length(data.x)', 'len(data.x)'],
    ['data.x.toUpperCase()', 'data.x.upper()'],
    ['data.x.Trim()', 'data.x.strip()'],
    ['data.x;', 'data.x'],
    [
      '!data.done && data.total > 700 ? "big" : null',
      '"big" if not data.done and data.total > 700 else None',
    ],
  ])('is said in Python: %s', (source, python) => {
    const hint = hintFor(source);
    expect(hint?.suggestion).toBe(python);
    expect(hint?.message).toContain(`Write ${JSON.stringify(python)}.`);
    expect(hintFor(python)).toBeNull();
  });

  it.each([
    ['data.items.map(x => x.id)', '[x for x in data.items if x.open]'],
    ['data.a?.b', '.get(\\"b\\")'],
    ['data.a ?? 5', 'data.get(\\"a\\", …)'],
    ['data.x.toString()', 'str(…)'],
    ['data.x.includes("a")', 'x in …'],
    ['data.x++', 'x + 1'],
  ])('gets a hint without a suggestion if it cannot be rewritten: %s', (source, part) => {
    const hint = hintFor(source);
    expect(hint?.message).toContain(part);
    expect(hint?.suggestion).toBeNull();
  });

  it.each([
    'data.x != 5',
    'data["a && b"] == "x ? y : z"',
    'data.x in ["!", "?", "{{"]',
    "f'{data.x}'",
    "f'{{ data.x }}'",
    '"{{ customer }}"',
    '{"a": {"b": 1}}',
    '{**data, "x": {"y": 2}}',
    '{k: v for k, v in data.x.items()}',
    'dict(true=1, null=2)',
    'data.null + data.true + data.Math.x',
    'lambda x: x',
    'sorted(data.l, key=lambda x: x.at)',
    'data.x[1:2]',
    'data.a >= 1 and data.b <= 2',
    '"a" "b"  # && ?',
    'data.count(1)',
    'datetime.now(timezone.utc)',
    '1.5 + data.x1',
    "'''a && b'''",
  ])('is not found in Python: %s', (source) => {
    expect(findForeignSyntax(source)).toBeNull();
  });

  it('is not looked for in long texts', () => {
    expect(findForeignSyntax(`data.a && ${'x'.repeat(1000)}`)).toBeNull();
  });

  it('is looked for in any text, without an error', () => {
    const part = fc.constantFrom(
      'data.a',
      '?',
      ':',
      '{{',
      '}}',
      '${',
      '"',
      "'",
      '`',
      '&&',
      '!',
      ' ',
      '(',
      ')',
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 30 }), (parts) => {
        const source = parts.join('');
        findForeignSyntax(source);
        rewriteConditionals(source);
        expect(maskLiterals(source)).toHaveLength(source.length);
      }),
    );
  });
});

describe('the documentation', () => {
  const reference = readFileSync(
    new URL('../../../../docs/definitions.md', import.meta.url),
    'utf8',
  );
  const [, section = ''] = /### From other languages\n(.*?)\n### /s.exec(reference) ?? [];
  const codesIn = (cell = '') =>
    [...cell.matchAll(/`([^`]*)`|<code>(.*?)<\/code>/g)].map(
      ([, plain, escaped = '']) => plain ?? escaped.replaceAll('&#124;', '|'),
    );
  const rows = section
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .slice(2)
    .map((line) => line.split('|').map(codesIn));

  it('shows the rewriting of the hints', () => {
    expect(rows.length).toBeGreaterThan(8);
    for (const [, written = [], python = []] of rows) {
      for (const [index, source] of written.entries()) {
        const expected = python[index] ?? python[0];
        const foreign = findDashedField(source, []) ?? findForeignSyntax(source);
        expect(foreign?.python, source).toBe(expected);
      }
    }
  });
});

describe('a field with a dash', () => {
  it.each([
    ['data.order-number', ['number'], 'data["order-number"]'],
    ['data.order-id', [], 'data["order-id"]'],
    ['data.a.order-line-id + 1', ['line'], 'data.a["order-line-id"] + 1'],
  ])('is recognized: %s', (source, unknown, python) => {
    expect(findDashedField(source, unknown)).toMatchObject({ python });
  });

  it.each(['data.a-data.b', 'data.a-len(data.b)', 'data.a - id', '"data.order-id"', 'data.a-1'])(
    'is not recognized: %s',
    (source) => {
      expect(findDashedField(source, [])).toBeNull();
    },
  );
});
