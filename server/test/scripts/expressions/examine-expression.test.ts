/** What is known of an expression before it runs. The lists of names are compared with those in the interpreter. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { examineExpression } from '../../../src/scripts/expressions/examine-expression.js';
import {
  EXPRESSION_NAMES,
  IMPORTABLE_MODULES,
} from '../../../src/scripts/expressions/known-names.js';

const unknownNames = (source: string) => examineExpression(source)?.unknownNames;

describe('the list of names in an expression', () => {
  it.each([
    'data.x + context.Item - environment["A"]',
    'step.Result',
    'len([x for x in data.l if x > 1])',
    '{k: v for k, v in data.items()}',
    '[x + y for x, (y, *z) in data.l for w in x if z and w]',
    '[y for x in data.l for y in x]',
    'sum(i.price * i.count for i in data.items)',
    'sorted(data.l, key=lambda order, *more, reverse=False, **rest: (order.id, more, reverse, rest))',
    '(lambda: 1)()',
    'dict(name=data.x, other=1)',
    '[y := data.x, y + 1]',
    '[q for x in data.l if (q := x)]',
    'f"{data.name:>{data.width}} {len(data.l)!r} {{literal}}"',
    "f'{data.x=}'",
    'math.floor(datetime.now(timezone.utc).timestamp())',
    'Decimal("1.1") + Decimal(data.x)',
    'isinstance(data.x, (int, ValueError))',
    '"text with words"',
    'True if data.x else None',
    'data["a"].b.c[0][data.i:]',
    'data.class_ if not ... else 1',
    'type(data.x).__name__ + __name__',
    'data.a +\n  data.b',
    '(lambda f: f(f))(lambda g: g)',
    '{**data, "a": 1}',
    'print(*data.l, sep=",")',
  ])('contains only known names in %j', (source) => {
    expect(unknownNames(source)).toEqual([]);
  });

  it.each([
    ['charge-card', ['charge', 'card']],
    ['dta.x', ['dta']],
    ['foo(x)', ['foo', 'x']],
    ['true', ['true']],
    ['[x for x in x]', ['x']],
    ['[x for x in data.l] + x', ['x']],
    ['[y for x in y for y in x]', ['y']],
    ['(lambda a, b=a: b)(1)', ['a']],
    ['(lambda a: a)(a)', ['a']],
    ['f"{name}: {data.x:>{wide}}"', ['name', 'wide']],
    ['f(a=b, **c)', ['f', 'b', 'c']],
    ['data[key]', ['key']],
    ['open("x")', ['open']],
    ['os.environ', ['os']],
    ['items[0].price', ['items']],
    ['sum(o.total for o in orders)', ['orders']],
    ['data.x if ready else other', ['ready', 'other']],
  ])('shows for %j the undefined names %j', (source, names) => {
    expect(unknownNames(source)).toEqual(names);
  });

  it.each([
    'a b',
    'x = 1',
    'import os',
    '',
    `${'('.repeat(90)}x${')'.repeat(90)}`,
    `x${' '.repeat(5000)}y`,
  ])('is not checked in unparsable source: %#', (source) => {
    expect(examineExpression(source)).toBeNull();
  });
});

describe('a change in place', () => {
  it.each([
    ['data.l.append(4)', ['data.l.append']],
    ['data["l"][0].update({"a": 1})', ['data["l"][0].update']],
    ['[data.l.pop() for _ in range(3)]', ['data.l.pop']],
    [
      'context.Item.setdefault("a", step.Result.sort())',
      ['context.Item.setdefault', 'step.Result.sort'],
    ],
  ])('is detected in %j', (source, changes) => {
    expect(examineExpression(source)?.changes).toEqual(changes);
  });

  it.each([
    'data.l.copy().append(4)',
    'list(data.l).sort()',
    'sorted(data.l)',
    'data.l[1:].pop()',
    '[l.append(1) for l in data.lists]',
    '(lambda data: data.pop())([1])',
    'data.append + data.sort',
  ])('is not reported in %j, which changes no variable', (source) => {
    expect(examineExpression(source)?.changes).toEqual([]);
  });
});

describe('the dependency list of an expression', () => {
  it.each([
    [
      'data.a.b == step["Result"].x',
      [
        { variable: 'data', keys: ['a', 'b'] },
        { variable: 'step', keys: ['Result', 'x'] },
      ],
      false,
    ],
    [
      'data[data.k].x',
      [
        { variable: 'data', keys: ['k'] },
        { variable: 'data', keys: [] },
      ],
      false,
    ],
    ['random.random() > 0.5', [], true],
    ['datetime.now() > data.due', [{ variable: 'data', keys: ['due'] }], true],
  ])('includes data and clock: %j', (source, reads, varies) => {
    expect(examineExpression(source)).toMatchObject({ reads, varies });
  });

  it.each([
    ['False', false],
    ['"x" == "y"', false],
    ['not True', false],
    ['0', 0],
    ["'approved'", 'approved'],
    ['1 < 2', true],
    ['data.x', undefined],
    ['data', undefined],
    ['len("abc") > 2 and data.x', undefined],
    ['environment["X"] == "y"', undefined],
    ['step.x', undefined],
  ])('is empty for a constant: %j is %j', (source, constant) => {
    expect(examineExpression(source)?.constant).toEqual(constant);
  });
});

describe('the list of known names', () => {
  const runner = readFileSync(
    new URL('../../../src/scripts/pyodide/runner.py', import.meta.url),
    'utf8',
  );

  it('contains the modules that scripts can import', () => {
    const [, modules = ''] = /IMPORTABLE = frozenset\(\'\'\'(.*?)\'\'\'/s.exec(runner)!;
    expect([...IMPORTABLE_MODULES].sort()).toEqual(modules.trim().split(/\s+/).sort());
  });

  it('contains the names that expressions are given, and none that is hidden from them', () => {
    const [, given = ''] = /_EXPRESSION_BUILTINS = _SCRIPT_BUILTINS \| \{(.*?)\}/s.exec(runner)!;
    const names = [...given.matchAll(/'(\w+)':/g)].map(([, name]) => name!);
    expect(names.length).toBeGreaterThan(10);
    for (const name of names) expect(EXPRESSION_NAMES).toContain(name);
    const [, hidden = ''] = /_HIDDEN = \((.*?)\)/s.exec(runner)!;
    for (const [, name] of hidden.matchAll(/'(\w+)'/g)) {
      expect(EXPRESSION_NAMES).not.toContain(name);
    }
  });
});
