/**
 * The same expressions in Pyodide and in the machine's own CPython: their values and types of errors are equal.
 *
 * The other side is a small Python program without any of our code: plain dicts for data, `json` for results. So only
 * `data["a"]` is compared, and results that JSON can represent; the contract tests the conversions that we add. Skipped
 * if there is no python3. Also compares expressions evaluated without Python with Python's values.
 */
import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readJson, writeJson } from '../../../src/engine/values/exact-json.js';
import type { Json, JsonObject } from '../../../src/engine/values/json.js';
import { startRuntime, type StartedRuntime } from './start-runtime.js';
import { propertyRuns } from '../../support/property-runs.js';

const REFERENCE = `
import sys, json, math, re, base64, hashlib, uuid, random
from datetime import datetime, date, time, timedelta, timezone
from decimal import Decimal
data, sources = json.load(sys.stdin)
answer, sys.stdout = sys.stdout, sys.stderr
answers = []
for source in sources:
    try:
        answers.append({"value": json.loads(json.dumps(eval(source, {**globals(), "data": data}), allow_nan=False))})
    except Exception as error:
        answers.append({"error": type(error).__name__})
print(json.dumps(answers), file=answer)
`;

interface ReferenceAnswer {
  readonly value?: Json;
  readonly error?: string;
}

const hasPython =
  spawnSync('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 9))']).status === 0;

function evaluateWithPython(
  data: JsonObject,
  sources: readonly string[],
): readonly ReferenceAnswer[] {
  const { stdout, stderr } = spawnSync('python3', ['-c', REFERENCE], {
    input: writeJson([data, sources]),
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  });
  if (stdout === '') throw new Error(stderr);
  return readJson(stdout) as unknown as ReferenceAnswer[];
}

const DATA: JsonObject = {
  n: 7,
  neg: -3,
  f: 2.75,
  zero: 0,
  big: 10n ** 16n + 1n,
  float: 1e16,
  minus: -0,
  s: 'Hello, World',
  u: 'äöü ß 😀 İ',
  e: '',
  t: true,
  none: null,
  l: [3, 1, 2],
  words: ['pear', 'Apple', 'fig'],
  rows: [
    { name: 'a', qty: 2, price: 1.5 },
    { name: 'b', qty: 0, price: 10 },
  ],
  d: { x: 1, y: { z: [1, 2] } },
};

const SOURCES = `
data["n"] + data["f"]
data["n"] / data["zero"]
data["n"] // 2
data["neg"] // 2
data["neg"] % 5
-7 % 3, 7 % -3, divmod(-7, 2)
2 ** 10, 2 ** -1, (-8) ** 2
7 / 2, 6 / 2, 0.1 + 0.2, 1e22, 1e16 + 1
round(2.5), round(3.5), round(-2.5), round(2.675, 2), round(1234.5678, -2)
int("42"), int("-7"), int(3.9), int(-3.9), int("ff", 16), float("1e3")
int("x")
float("x")
abs(-5), max(1, 5, 3), min([4, 2]), sum([1, 2, 3]), sum([0.1] * 3)
1 < 2 < 3, 1 < 3 < 2, 1 == 1.0, True + True
"a" < "b", [1, 2] < [1, 3], "a" < 1
None == 0, None is None, not None
data["s"].upper(), data["s"].lower(), data["s"].swapcase(), data["s"].title()
data["s"].split(", "), data["s"].replace("l", "L", 1), data["s"].find("W"), data["s"].index("o")
data["s"].index("zzz")
data["s"][0], data["s"][-1], data["s"][1:5], data["s"][::-1], data["s"][100:]
data["s"][100]
data["s"].startswith("He"), data["s"].endswith(("x", "d")), data["s"].count("l")
"-".join(data["words"]), "-".join(data["l"])
"{:>5}|{:<5}|{:^5}".format(1, 2, 3), "{0} {1} {0}".format("a", "b"), "{a[x]}".format(a=data["d"])
"%05.1f %s %d%%" % (2.5, "q", 3), "%s" % data["l"], "%x" % 255
f"{data['f']:.1f} {data['n']:>4} {data['s']!r} {1000000:,} {0.5:%} {255:#x}"
len(data["u"]), data["u"].upper(), data["u"].lower(), data["u"].casefold(), data["u"].encode("utf-8").hex()
data["u"][5], ord("😀"), chr(128512), "ß".upper(), "İ".lower()
sorted(data["l"]), sorted(data["words"]), sorted(data["words"], key=str.lower), sorted(data["l"], reverse=True)
sorted([1, "a"])
list(reversed(data["l"])), data["l"] + [4], data["l"] * 2, 3 in data["l"], data["l"].index(2)
data["l"][5]
data["l"][-1], data["l"][1:], data["l"][::2], data["l"].count(1)
[x * 2 for x in data["l"] if x > 1], [(i, x) for i, x in enumerate(data["l"])], [x for y in [[1], [2]] for x in y]
{k: v for k, v in zip("ab", [1, 2])}, dict(a=1, **{"b": 2}), {**data["d"], "x": 9}
sum(r["qty"] * r["price"] for r in data["rows"]), max(data["rows"], key=lambda r: r["qty"])["name"]
[r["name"] for r in data["rows"] if r["qty"]], any(r["qty"] > 5 for r in data["rows"]), all([])
data["rows"][0]["missing"]
data["missing"]
data.get("missing"), data.get("n", 5), data.get("missing", 5)
list(data["d"].keys()), list(data["d"].items())[0], "x" in data["d"], len(data["d"])
data["d"]["y"]["z"][1]
data["none"]["x"]
data["n"]["x"]
data["n"]()
data["s"] + 1
data["s"] * 2, 2 * "ab", "a" "b", data["e"] or "default", data["n"] and "yes", data["t"] and not data["none"]
"yes" if data["n"] > 5 else "no"
list(map(lambda x: x + 1, data["l"])), list(filter(None, [0, 1, ""])), list(zip([1, 2], "ab"))
(lambda a, b=2, *c, **d: [a, b, c, d])(1, 3, 4, e=5)
[*data["l"], *"ab"], (*data["l"],), {*"a"} == {"a"}
isinstance(1, int), isinstance(True, int), isinstance("", (int, str)), type(1.0).__name__, callable(len)
bin(5), hex(255), oct(8), bool(""), bool([0]), str(1.0), str(10 ** 15), repr("a'b"), str(None), str([1, "a", 2.0])
1_000_000, 0x1F, 0b101, 0o17, 1e3, .5, 5.
10 ** 15 + 1, 2 ** 53, -(2 ** 53), 2 ** 53 + 1, 10 ** 16, 1e16, 10.0 ** 16 + 2, -0.0, 0 * -1.0
data["big"], data["big"] + 1, data["big"] // 10, data["big"] / 2, -data["big"], str(data["big"]), data["big"] == 1e16
data["float"], str(data["float"]), data["float"] + 1, type(data["float"]).__name__, int(data["float"])
2 ** 3000 % 1000, 2 ** 3000, [{"a": -(2 ** 64)}], 0.1 + 2 ** 53, math.copysign(1, data["minus"])
math.floor(-2.5), math.ceil(2.1), math.sqrt(16), math.pi, math.gcd(12, 18), math.isclose(0.1 + 0.2, 0.3), math.log10(1000)
math.sqrt(-1)
json.dumps(data["d"]), json.dumps({"a": [1, 2.0, None, True, "é"]}, indent=1, sort_keys=True), json.loads("[1, 2.5]")
json.loads("{")
re.findall(r"\\w+", data["s"]), re.sub(r"(\\w)o", r"\\g<1>0", data["s"]), bool(re.match("H", data["s"])), re.split("[,o]", data["s"])
re.search(r"(?P<a>l+)", data["s"]).group("a"), re.search("l+", data["s"]).span()
re.escape("a(b")
base64.b64encode(b"hello").decode(), base64.b64decode("aGk=").decode(), hashlib.md5(b"a").hexdigest(), hashlib.sha256("é".encode()).hexdigest()
str(uuid.UUID(int=1)), str(uuid.uuid5(uuid.NAMESPACE_DNS, "x"))
random.Random(42).random(), random.Random(1).randint(1, 100), random.Random("x").sample(range(100), 5)
datetime(2024, 2, 29, 12, 30).isoformat(), (datetime(2024, 2, 29) + timedelta(days=366)).strftime("%Y-%m-%d %A %B %j")
datetime.strptime("03/Jan/2024:10:00:00 +0200", "%d/%b/%Y:%H:%M:%S %z").isoformat()
datetime(2024, 13, 1)
(date(2024, 3, 1) - date(2024, 2, 1)).days, date(2024, 1, 1).weekday(), date(2024, 12, 30).isocalendar()[1]
datetime.fromtimestamp(0, timezone.utc).isoformat(), datetime(1969, 12, 31, tzinfo=timezone.utc).timestamp()
str(timedelta(hours=25, seconds=1.5)), timedelta(days=1).total_seconds(), time(13, 5).strftime("%I:%M %p")
str(Decimal("1.10") + Decimal("2.205")), str(Decimal("2.675").quantize(Decimal("0.01"))), str(Decimal(1) / Decimal(3))
Decimal("x")
str(1 / 3), 1e308 * 10 > 1e308, 5e-324, 123456789.123456789, 1.7976931348623157e308
complex(1, 2).real, (5).bit_length(), (255).to_bytes(2, "big").hex(), int.from_bytes(b"\\x01\\x00", "big")
"a\\tb".expandtabs(4), "x".zfill(3), "abc".center(7, "*"), "a,b,,c".split(","), " x ".strip(), "xxabxx".strip("x")
"abc".isalpha(), "12".isdigit(), "a b".isidentifier(), "ab".translate(str.maketrans("a", "z")), "a-b".partition("-")
(x := 5) + x
undefined
1 +
import os
print("x")
len(5)
"abc".nope()
[1, 2, 3][1:][0], [[1, 2], [3]][0][1], {"a": 1}["a"], (1, 2)[0], "abc"[1]
{1: "a"}, {True: 1}, {None: 1}, {1.5: 2}
{(1, 2): 3}
not data["l"], ~5, 5 & 3, 5 | 3, 5 ^ 3, 1 << 10, -16 >> 2
next(iter([1])), list(iter("ab")), [i for i in range(10, 0, -3)], list(range(0))
"".join(chr(ord(c) + 1) for c in "HAL"), sum(map(int, "12345")), "abc" == "ab" + "c", "a" in "cat", "" in "x"
sorted({"b": 1, "a": 2}.items(), key=lambda kv: kv[1]), max("hello"), min({"z": 1, "y": 2})
assert_ if False else "lazy", 0 and undefined, 1 or undefined
`
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => line.replaceAll('\\\\', '\\'));

describe.runIf(hasPython)('the comparison of Pyodide and CPython', () => {
  let started: StartedRuntime;
  beforeAll(async () => {
    started = await startRuntime({ expressionTimeoutMs: 10_000 });
  });
  afterAll(() => started.runtime.stop());

  async function expectSame(data: JsonObject, sources: readonly string[]): Promise<void> {
    const expected = evaluateWithPython(data, sources);
    const actual = [];
    for (const source of sources) {
      const result = await started.evaluate(source, data);
      actual.push({
        source,
        ...(result.ok ? { value: result.values[0] } : { error: result.error.type }),
      });
    }
    expect(actual).toEqual(sources.map((source, index) => ({ source, ...expected[index] })));
  }

  it(`shows equal results for ${SOURCES.length} expressions`, async () => {
    await expectSame(DATA, SOURCES);
  });

  it('shows equal results for random arithmetic, comparisons, strings and lists', async () => {
    const leaf = fc.oneof(
      fc.integer({ min: -50, max: 50 }).map(String),
      fc.constantFrom('0.5', '2.25', '-1.5', '"a"', '"Bc"', '""', '[1, 2]', '[]', 'True', 'None'),
      fc.constantFrom(
        'data["n"]',
        'data["f"]',
        'data["s"]',
        'data["l"]',
        'data["none"]',
        'data["d"]',
        'data["zero"]',
      ),
    );
    const { expression } = fc.letrec<{ expression: string }>((tie) => {
      const inner = tie('expression');
      const operator = fc.constantFrom(
        '+',
        '-',
        '*',
        '/',
        '//',
        '%',
        '==',
        '!=',
        '<',
        '<=',
        'and',
        'or',
        'in',
        'is not',
      );
      return {
        expression: fc.oneof(
          { maxDepth: 4, withCrossShrink: true },
          leaf,
          fc.tuple(inner, operator, inner).map(([a, o, b]) => `(${a} ${o} ${b})`),
          inner.map((a) => `(not ${a})`),
          inner.map((a) => `str(${a})`),
          inner.map((a) => `len(${a})`),
          fc.tuple(inner, inner, inner).map(([a, b, c]) => `(${a} if ${b} else ${c})`),
          fc.tuple(inner, inner).map(([a, b]) => `${a}[${b}]`),
          inner.map((a) => `[x for x in ${a}]`),
          leaf.filter((a) => !a.includes('"')).map((a) => `f"{${a}}"`),
        ),
      };
    });
    const sources = fc.sample(expression, { numRuns: 600, seed: 20_260 });
    await expectSame(DATA, sources);
  });
});

describe('the comparison of the evaluators with and without Python', () => {
  let started: StartedRuntime;
  beforeAll(async () => {
    started = await startRuntime({ expressionTimeoutMs: 10_000 });
  });
  afterAll(() => started.runtime.stop());

  it('shows equal results for every constant and every path', async () => {
    const key = fc.constantFrom(
      'a',
      'b',
      'items',
      'get',
      '_x',
      'class',
      'a b',
      '__proto__',
      'constructor',
      'é',
      '0',
      'length',
    );
    const { value } = fc.letrec<{ value: Json }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 4, depthSize: 'large' },
        fc.oneof(
          fc.integer(),
          fc.double({ noNaN: true, noDefaultInfinity: true }),
          fc.bigInt(2n ** 53n, 10n ** 30n),
          fc.constantFrom(-0, 1e16, 2 ** 53, -1e20),
          fc.string(),
          fc.boolean(),
          fc.constant(null),
        ),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.array(fc.tuple(key, tie('value')), { maxLength: 5 }).map(toObject),
      ),
    }));
    const data = fc.array(fc.tuple(key, value), { minLength: 1, maxLength: 8 }).map(toObject);
    const link = fc.oneof(
      key.map((name) => `.${name}`),
      key.map((name) => `["${name}"]`),
      key.map((name) => `['${name}']`),
      fc.integer({ min: -4, max: 4 }).map((index) => `[${index}]`),
    );
    const path = fc.array(link, { maxLength: 4 }).map((links) => `data${links.join('')}`);
    const constant = fc.oneof(
      fc.integer().map(String),
      fc.constantFrom(
        '-0',
        '0.5',
        '12.000',
        'True',
        'None',
        '"x"',
        "'y\"'",
        '""',
        '007',
        '1e3',
        '0x1',
        '"\\n"',
        'data',
      ),
      fc.string({ maxLength: 8 }).map((text) => `"${text}"`),
    );
    await fc.assert(
      fc.asyncProperty(
        data,
        fc.oneof({ weight: 4, arbitrary: path }, constant),
        async (fields, source) => {
          const plain = await started.evaluate(source, fields);
          // As a part of something that only Python can evaluate; in parentheses, because a comment may follow.
          const python = await started.evaluate(`(lambda: [\n${source}\n])()`, fields);
          if (plain.ok && python.ok) {
            expect(writeJson([plain.values[0]!])).toBe(writeJson(python.values[0]!));
          } else {
            expect([plain.ok, !plain.ok && plain.error.type]).toEqual([
              python.ok,
              !python.ok && python.error.type,
            ]);
          }
        },
      ),
      propertyRuns(500),
    );
  });
});

function toObject(entries: readonly (readonly [string, Json])[]): JsonObject {
  const members = entries.map(([key, value]) => `${JSON.stringify(key)}:${writeJson(value)}`);
  return readJson(`{${members.join(',')}}`) as JsonObject;
}
