/**
 * Decides which expressions may run on an interpreter that other workflows share. A wrong "pure" breaks the isolation
 * between workflows, a wrong "impure" costs five milliseconds: in doubt, an expression is impure.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  classifyExpression,
  type VariablePath,
} from '../../../src/scripts/expressions/classify-expression.js';
import { propertyRuns } from '../../support/property-runs.js';

/** Paths as text: `data.a.b`. */
function readsOf(source: string): string[] {
  const classification = classifyExpression(source);
  if (!classification.pure) throw new Error(`${source} is impure`);
  return classification.reads.map(({ variable, keys }: VariablePath) =>
    [variable, ...keys].join('.'),
  );
}

describe('classifyExpression', () => {
  it.each([
    '1',
    '-1.5e3',
    '"text"',
    "'it\\'s'",
    'data',
    'data.a + 1',
    'data.a["b"][0].c * 2 - context.Index',
    'data.list[1:-1]',
    'data.a > 1 and not data.b or data.c is None',
    'data.a if data.b else data.c',
    '1 < data.a <= 10',
    'data.a not in [1, 2]',
    '[1, *data.list]',
    '{"a": data.a, **data.b}',
    '(data.a, data.b)',
    '{1, 2}',
    'len(data.list) + sum(data.list)',
    'str(data.a)',
    'int("ff", base=16)',
    'sorted(data.list, reverse=True)',
    'max(data.list, default=0)',
    'dict(a=1, b=data.b)',
    'max(*data.list)',
    'isinstance(data.a, str)',
    'isinstance(data.a, (int, float))',
    'data.name.strip().upper()',
    'data.name.split(",", maxsplit=1)[0]',
    '", ".join([str(x) for x in data.list])',
    'data.get("a")',
    'data.o.items()',
    '[x.a for x in data.list if x.b > data.limit]',
    '[x + y for x in data.a for y in x.list]',
    '{k: v for k, v in data.o.items()}',
    '{x for x in data.list}',
    'sum(x.price * x.count for x in data.lines)',
    'any(x == 1 for x in data.list)',
    'f"{data.a} and {data.b!r:>10}"',
    'f"{data.price:.2f}"',
    'f\'{data["a"]}\'',
    'math.floor(data.a / 2) + math.pi',
    'json.dumps(data.a, indent=2)',
    'str(uuid.uuid4())',
    'datetime.now(timezone.utc).isoformat()',
    'datetime(2024, 1, 1) + timedelta(days=data.days)',
    '"é" + data.a',
    '"%s" % data.a',
    'data.a ** 2 + (data.b << 3)',
    '~data.a & 5 | 1 ^ 2',
    '(data.a\n+ data.b)',
    'data.id + data.type + data.format',
  ])('allows %s on an interpreter that is reused', (source) => {
    expect(classifyExpression(source).pure).toBe(true);
  });

  describe('an expression that can change or read more than its own data', () => {
    it.each([
      // Methods that change their object.
      'data.list.append(1)',
      'data.update(a=1)',
      'data.pop("a")',
      'data.setdefault("a", [])',
      'data.list.sort()',
      '[].extend([1])',
      // Ways to call something that was only read.
      'sorted(data.list, key=data.list.append)',
      'max(1, 2, key=data.list.append)',
      'list(map(data.list.append, [1]))',
      'filter(None, data.list)',
      '(data.a)(1)',
      'data.a[0](1)',
      'data["append"](1)',
      '[data.list.append][0](1)',
      '(lambda: 1)()',
      // Names that are not on the list.
      'print("x")',
      'eval("1")',
      'exec("1")',
      'getattr(data, "x")',
      'setattr(data, "x", 1)',
      'type(data)',
      'globals()',
      'vars()',
      'iter(data.list)',
      'next(iter([1]))',
      'open("x")',
      '__import__("os")',
      'random.random()',
      're.match("a", "b")',
      'hashlib.sha256(b"")',
      'math.factorial(5)',
      'Decimal("1")',
      'datetime.strptime("1", "%d")',
      'data.n.__class__',
      'data._x',
      'math.__dict__',
      'unknown',
      'self',
      // Values that are more than data.
      'math',
      'json.loads',
      'str',
      '[str]',
      'datetime',
      'timezone',
      'len',
      // Introspection.
      '(x for x in data).gi_frame',
      '[x for x in [(y for y in [1])]][0].gi_frame.f_back',
      'data.f_globals',
      'data.x.tb_frame',
      'data.x.co_consts',
      '"{0.__class__}".format(data)',
      '"{x}".format_map(data)',
      // Bindings.
      '(x := 1)',
      'len(x := [1])',
      '[y := 1, y]',
      '[len for len in [print]]',
      '[data for data in [1]]',
      '[open for open in [1]] and open("x")',
      '[sorted for sorted in [1]]',
      '[match for match in [1]]',
      '[x for x in [1]] + [x]',
      'x + [x for x in [1]][0]',
      '[1 for data.a in [2]]',
      '[1 for data["a"] in [2]]',
      '[1 for x, data.a in [(1, 2)]]',
      '[1 for *x in [2]]',
      '[1 for _x in [2]]',
      '[x for x in x]',
      'sum(y for x in data.list)',
      // Generators as values, and functions.
      '(x for x in data.list)',
      'max([], default=(x for x in [1]))',
      'lambda: 1',
      'await data',
      '[x async for x in data]',
      // Keywords that are called, or unknown.
      'json.dumps(data, default=print)',
      'json.dumps(data, cls=dict)',
      'json.loads("1", object_hook=print)',
      'dict(**data)',
      'str(data.a, "rot13")',
      '"a".encode("idna")',
      'isinstance(data, data.x)',
      'isinstance(data, type)',
      'isinstance(data)',
      // Literals that two parsers could read differently.
      'b"x"',
      'r"\\"',
      'u"x"',
      '"a" "b"',
      '"""x"""',
      't"{data}"',
      'f"{data!x}"',
      'f"{{}}"',
      'f"{data.a=}"',
      'f"{data.a:{data.b}}"',
      'f"{"a"}"',
      'f"\\{data}"',
      'f"""{data}"""',
      'rf"{data}"',
      'f"{[].append(1)}"',
      'f"{(lambda: 1)()}"',
      '1_000',
      '0x1f',
      '1j',
      '...',
      // Characters that Unicode normalization changes: these are `data` and `__class__` for CPython.
      'ｄａｔａ.x',
      'data.＿＿class＿＿',
      'data.ｘ',
      'ｅｖａｌ("1")',
      '[ｘ for ｘ in [1]]',
      // More or less than one expression.
      '',
      '1; 2',
      'data.a, data.b',
      'x = 1',
      'del data',
      'import os',
      'print 1',
      'exec "1"',
      'data.a # comment',
      '(data.a # comment\n)',
      'data.a \\\n + 1',
      'data.a\r+1',
      'data.a\t+ 1',
      'data.a\f+ 1',
      'data.a\u0000',
      '"\u0000"',
      'data.',
      '(1',
      '1 <> 2',
      '`1`',
    ])('is detected: %j', (source) => {
      expect(classifyExpression(source).pure).toBe(false);
    });
  });

  it('is assumed if the source is too long, too deeply nested or too large to classify', () => {
    expect(classifyExpression(`"${'x'.repeat(20_000)}"`).pure).toBe(false);
    expect(classifyExpression(`${'('.repeat(200)}1${')'.repeat(200)}`).pure).toBe(false);
    expect(classifyExpression(Array(500).fill('1').join('+')).pure).toBe(false);
  });

  it.each<[string, string[]]>([
    ['1', []],
    ['data', ['data']],
    ['data.a.b', ['data.a.b']],
    ['data["a"].b["c d"]', ['data.a.b.c d']],
    ['data.a[0].b', ['data.a']],
    ['data.a[data.i].b', ['data.i', 'data.a']],
    ['data.a[1:]', ['data.a']],
    ['data["a\\n"].b', ['data']],
    ['data.items()', ['data']],
    ['data.a.keys()', ['data.a']],
    ['data.a.items.b', ['data.a']],
    ['data.name.upper()', ['data.name']],
    ['data.get("x")', ['data.x', 'data.get']],
    ['data.a.get("x", data.y)', ['data.a.x', 'data.a.get', 'data.y']],
    ['data.a[0].get("x")', ['data.a']],
    ['data.get(data.key)', ['data', 'data.key']],
    ['data.items.get("x")', ['data']],
    ['(data or context).get("x")', ['data', 'context']],
    ['[x.a for x in data.list if x.b == step.c]', ['data.list', 'step.c']],
    ['environment["A"] + context.Item.name', ['environment.A', 'context.Item.name']],
    ['f"{data.a} {data.b:>3}"', ['data.a', 'data.b']],
    ['"a" in data.o', ['data.o']],
    ['[x for x in [data]]', ['data']],
  ])('reports the paths that %s reads', (source, expected) => {
    expect(readsOf(source).sort()).toEqual([...expected].sort());
  });

  it('does not classify an expression with an unknown name as pure', () => {
    const name = fc.constantFrom(
      'eval',
      'getattr',
      '__x',
      'open',
      'os',
      'type',
      'map',
      'setattr',
      'ｌｅｎ',
    );
    const template = fc.constantFrom(
      'NAME',
      'NAME(1)',
      '[NAME for x in [1]]',
      '[x for x in NAME]',
      'f"{NAME}"',
      'data.a[NAME]',
      'data.a.get(NAME)',
      '1 if NAME else 2',
      '{"a": NAME}',
      'sum(NAME for x in [1])',
      '[x for x in [1] if NAME(x)]',
      'len(data.list) + (NAME)',
      'NAME.a',
      'isinstance(1, NAME)',
      'isinstance(NAME, int)',
    );
    fc.assert(
      fc.property(name, template, fc.nat(3), (chosen, shape, depth) => {
        let source = shape.replaceAll('NAME', chosen);
        for (let level = 0; level < depth; level += 1) source = `[${source}, (data.a)]`;
        expect(classifyExpression(source).pure).toBe(false);
      }),
    );
  });

  it.each(['[a:', '* ', 'a b ', '->', '(', 'not ', '[x for x in ', 'f"{', '"', '\n'])(
    'takes little time for nonsense consisting of %j',
    (piece) => {
      const source = piece.repeat(10_000 / piece.length);
      const began = process.cpuUsage();
      for (let round = 0; round < 5; round += 1) classifyExpression(source);
      // It was 800 ms each before the parser stopped at the first error; the rest is tolerance for a slow machine.
      expect(process.cpuUsage(began).user / 1000 / 5).toBeLessThan(400);
    },
  );

  it('returns a result for any text', () => {
    const pieces = fc.constantFrom(
      'data',
      '.',
      'a',
      '(',
      ')',
      '[',
      ']',
      '"',
      "'",
      'f"',
      '{',
      '}',
      'for',
      'in',
      'x',
      ' ',
      '\n',
      'lambda',
      ':',
      ',',
      '*',
      '**',
      '=',
      ':=',
      '\\',
      '#',
      '1',
      'not',
      'if',
      'else',
      '!r',
      'é',
      '\u0000',
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 30 }), (parts) => {
        expect(typeof classifyExpression(parts.join('')).pure).toBe('boolean');
      }),
      propertyRuns(2000),
    );
  });
});
