/**
 * Code that takes all it can get: time, memory, stack, output. Each attempt ends within its limit and a short grace
 * period, with an error that names the cause, and the next evaluation works.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/engine/values/json.js';
import { startRuntime, type StartedRuntime } from './start-runtime.js';

/** For code that never ends. */
const SHORT_MS = 400;
/** For code that ends at another limit, even on a busy machine. */
const LONG_MS = 5000;

let started: StartedRuntime;
let timeoutMs = SHORT_MS;

function useTimeout(limitMs: number): void {
  beforeAll(async () => {
    timeoutMs = limitMs;
    started = await startRuntime({
      scriptTimeoutMs: limitMs,
      expressionTimeoutMs: limitMs,
      spares: 1,
    });
  });
  afterAll(() => started.runtime.stop());
}

async function timed<Result>(work: Promise<Result>): Promise<Result> {
  const began = performance.now();
  const result = await work;
  // A process is killed after at most twice the limit plus the pool's grace period; the rest is tolerance for a busy
  // machine.
  expect(performance.now() - began).toBeLessThan(2 * timeoutMs + 1000 + 4000);
  return result;
}

async function expectServed(): Promise<void> {
  expect(await timed(started.value('sum([data.a, 1])', { a: 1 }))).toBe(2);
  expect(await timed(started.runtime.runScript('b = [1] * 3', {}))).toMatchObject({
    ok: true,
    variables: { b: [1, 1, 1] },
  });
}

describe('the time limit', () => {
  useTimeout(SHORT_MS);

  it.each([
    ['an infinite loop', 'while True: pass'],
    [
      'an infinite loop that catches everything',
      'while True:\n  try:\n    while True: pass\n  except BaseException: pass',
    ],
    [
      'a regular expression with catastrophic backtracking',
      'import re\nre.match("(a+)+$", "a" * 60 + "b")',
    ],
    ['a huge power', 'x = 9 ** 9 ** 9'],
    ['the digits of a power', 'x = len(str(7 ** (10 ** 7)))'],
    ['a long sum', 'sum(range(10 ** 12))'],
    ['an endless iterator', 'import itertools\nsum(itertools.count())'],
    [
      'a sort',
      'class C:\n  def __lt__(self, o): return True\nx = [C() for _ in range(10 ** 5)]\nwhile True: x.sort()',
    ],
    ['a search in a single C call', 'x = [0] * (10 ** 6)\nfor _ in range(10 ** 6): x.count(-1)'],
    ['an infinite finalizer', 'class D:\n  def __del__(self):\n    while True: pass\nD()'],
    [
      'the endless text of an exception',
      'class E(Exception):\n  def __str__(self):\n    while True: pass\nraise E()',
    ],
    [
      'the endless comparison of a key',
      'class K:\n  def __hash__(self): return 1\n  def __eq__(self, o):\n    while True: pass\nd = {K(): 1, K(): 2}',
    ],
    [
      'a variable whose encoding never ends',
      'import enum\nclass M(dict):\n  def items(self):\n    while True: pass\nm = M(a=1)',
    ],
    ['compiling', 'exec("x=" + "-" * 3 + "1\\n" * 10 ** 7)'],
  ])('stops %s in a script', async (_, source) => {
    const result = await timed(started.runtime.runScript(source, {}));
    expect(result).toMatchObject({ ok: false, error: { type: 'Timeout' } });
    await expectServed();
  });

  it.each([
    '9 ** 9 ** 9 ** 9',
    'sum(x for x in range(10 ** 12))',
    '[x for x in iter(int, 1)]',
    're.match("(a+)+$", "a" * 60 + "b")',
    'max(x * y for x in range(10 ** 6) for y in range(10 ** 6))',
  ])('stops %s in an expression', async (source) => {
    expect(await timed(started.evaluate(source))).toMatchObject({
      ok: false,
      error: { type: 'Timeout' },
    });
    await expectServed();
  });

  it('keeps the output printed so far', async () => {
    const result = await started.runtime.runScript('print("begun")\nwhile True: pass', {});
    expect(result).toMatchObject({ ok: false, error: { type: 'Timeout' }, output: 'begun\n' });
  });

  it('stops a script that catches MemoryError repeatedly', async () => {
    const source =
      'l = []\nwhile True:\n  try: l.append("x" * 10 ** 7)\n  except MemoryError: pass';
    expect(await timed(started.runtime.runScript(source, {}))).toMatchObject({ ok: false });
    await expectServed();
  });

  it('stops a script that makes a million denied calls', async () => {
    const source =
      'B = [c for c in ().__class__.__base__.__subclasses__() if c.__name__ == "BuiltinImporter"][0]\n' +
      'p = B.load_module("posix")\nwhile True:\n  try: p.write(9, b"x")\n  except OSError: pass';
    expect(await timed(started.runtime.runScript(source, {}))).toMatchObject({ ok: false });
    await expectServed();
  });

  it('stops endless output', async () => {
    const result = await timed(started.runtime.runScript('while True: print("x" * 1000)', {}));
    expect(result).toMatchObject({ ok: false, error: { type: 'Timeout' } });
    expect(Buffer.byteLength(result.output)).toBe(64 * 1024);
    await expectServed();
  });

  it('replaces no interpreter', async () => {
    const before = started.runtime.statistics();
    await started.evaluate('sum(range(10 ** 12))');
    const after = started.runtime.statistics();
    expect(after.replaced).toBe(before.replaced);
    expect(after.timeouts).toBe(before.timeouts + 1);
  });
});

describe('the memory limit', () => {
  useTimeout(LONG_MS);

  it.each([
    ['a long string', 'x = "a" * 10 ** 10'],
    ['a long list', 'x = [0] * 10 ** 10'],
    ['a list that grows', 'l = []\nwhile True: l.append("x" * 1_000_000)'],
    ['bytes', 'x = bytearray(10 ** 9)'],
    ['formatting', 'x = f"{1:1000000000}"'],
    ['joining', 'x = ("a" * 10 ** 6 + ",") * 10 ** 3 + "b"'],
    [
      'a decimal',
      'from decimal import Decimal\nx = Decimal(1).scaleb(10 ** 17) if False else "a" * 2 ** 31',
    ],
  ])('stops %s in a script', async (_, source) => {
    const result = await timed(started.runtime.runScript(source, {}));
    expect(result.ok).toBe(false);
    expect(result.ok ? '' : result.error.type).toMatch(/^(MemoryLimit|OverflowError|ValueError)$/);
    await expectServed();
  });

  it.each([
    '"a" * 10 ** 10',
    '[0] * 10 ** 10',
    'list(range(10 ** 9))',
    '"%1000000000d" % 1',
    '" " * 2 ** 30 + data.a',
  ])('stops %s in an expression', async (source) => {
    const result = await timed(started.evaluate(source, { a: 'x' }));
    expect(result.ok).toBe(false);
    expect(result.ok ? '' : result.error.type).toMatch(
      /^(MemoryLimit|Timeout|OverflowError|ValueError)$/,
    );
    await expectServed();
  });

  it('stops a script that creates many small objects', async () => {
    const result = await timed(started.runtime.runScript('l = []\nwhile True: l.append([l])', {}));
    expect(result.ok ? '' : result.error.type).toMatch(/^(MemoryLimit|Timeout)$/);
    await expectServed();
  });
});

describe('the stack limit', () => {
  useTimeout(LONG_MS);

  it.each([
    ['recursion', 'def f(): f()\nf()', /RecursionError/],
    [
      'recursion in C',
      'a = []\nfor _ in range(200000): a = [a]\nx = repr(a)',
      /RecursionError|MemoryLimit|InterpreterCrash/,
    ],
    ['recursion in a lambda', 'import functools\nf = lambda n: f(n + 1)\nf(0)', /RecursionError/],
    [
      'attributes',
      'class A:\n  def __getattr__(self, n): return getattr(self, n + "x")\nA().x',
      /RecursionError|MemoryLimit|Timeout/,
    ],
    ['brackets', 'eval("(" * 10000 + ")" * 10000)', /SyntaxError|MemoryLimit|RecursionError/],
    [
      'a regular expression',
      'import re\nre.compile("(" * 20000 + ")" * 20000)',
      /RecursionError|PatternError|error|InterpreterCrash/,
    ],
  ])('stops %s', async (_, source, type) => {
    const result = await timed(started.runtime.runScript(source, {}));
    expect(result.ok ? '' : result.error.type).toMatch(type);
    await expectServed();
  });

  it('rejects a deeply nested result', async () => {
    const result = await timed(
      started.runtime.runScript('a = []\nfor _ in range(100000): a = [a]', {}),
    );
    expect(result).toMatchObject({
      ok: false,
      error: { message: expect.stringMatching(/'a' cannot be stored|nested too deeply/) as string },
    });
    await expectServed();
  });

  it.each([300, 3_000, 30_000])(
    'accepts or rejects data that is nested %i levels deep',
    async (levels) => {
      let data: JsonObject = {};
      for (let level = 0; level < levels; level += 1) data = { a: data };
      const result = await timed(started.evaluate('len(str(data)) > 0', data));
      if (!result.ok)
        expect(result.error.type).toMatch(/^(RecursionError|MemoryLimit|ValueError)$/);
      await expectServed();
    },
  );

  it('replaces no interpreter', () => {
    expect(started.runtime.statistics()).toMatchObject({ replaced: 0 });
  });
});

describe('the size limit', () => {
  useTimeout(LONG_MS);

  it('rejects a large result', async () => {
    expect(await started.evaluate('["x" * 1000] * 3000')).toMatchObject({
      ok: false,
      error: { type: 'ResultTooLarge', message: 'the result is larger than 2097152 bytes' },
    });
    expect(await started.runtime.runScript('x = "y" * 3_000_000', {})).toMatchObject({
      ok: false,
      error: { type: 'ResultTooLarge' },
    });
    await expectServed();
  });

  it('names the result that exceeded it', async () => {
    const sources = ['"x" * 1_000_000', '"x" * 900_000', '"x" * 900_000'];
    const result = await started.runtime.evaluate(
      sources.map((source) => ({ source })),
      { data: {}, context: {} },
    );
    expect(result).toMatchObject({ ok: false, index: 2, error: { type: 'ResultTooLarge' } });
  });

  it('returns a result just below it', async () => {
    expect(await started.value('"x" * 2_000_000')).toHaveLength(2_000_000);
  });

  it('accepts large data', async () => {
    const data = {
      list: Array.from({ length: 50_000 }, (_, index) => ({ index, name: `n${index}` })),
    };
    expect(await started.value('sum([len(data.list), data.list[-1].index])', data)).toBe(99_999);
  });

  it('is the same for expressions evaluated without Python', async () => {
    let shared: JsonObject = { x: 1 };
    for (let level = 0; level < 40; level += 1) shared = { a: shared, b: shared };
    expect(await started.evaluate('data.s', { s: shared })).toMatchObject({
      ok: false,
      error: { type: 'ResultTooLarge' },
    });
  });

  it('truncates endless output and continues', async () => {
    const result = await timed(
      started.runtime.runScript('for i in range(20000): print("x" * 100)\ny = 1', {}),
    );
    expect(result).toMatchObject({ ok: true, variables: { i: 19_999, y: 1 } });
    expect(Buffer.byteLength(result.output)).toBeLessThanOrEqual(64 * 1024);
    await expectServed();
  });
});
