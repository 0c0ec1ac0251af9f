/** Scripts that use the syntax and the built-in types of Python, and the records that inputs become. */
import type { OrdinaryScript } from './ordinary-script.js';

export const LANGUAGE_SCRIPTS: readonly OrdinaryScript[] = [
  {
    name: 'classes',
    source: String.raw`
from dataclasses import dataclass, asdict, field
from enum import Enum, IntEnum, StrEnum
from typing import Optional, List
import abc
class C(Enum):
    A = 1
class S(StrEnum):
    B = "b"
class Base(abc.ABC):
    @abc.abstractmethod
    def t(self): ...
@dataclass
class D(Base):
    a: int
    b: "list[int]" = field(default_factory=list)
    def t(self): return self.a * 2
d = D(2)
x = [d, d.t(), C.A, S.B, asdict(d), isinstance(d, Base)]
`,
    leaves: { d: { a: 2, b: [] }, x: [{ a: 2, b: [] }, 4, 1, 'b', { a: 2, b: [] }, true] },
  },
  {
    name: 'match',
    source: String.raw`
def f(v):
    match v:
        case {"t": "a", "n": int(n)}: return n
        case [1, *r]: return r
        case str() as s if s: return s
        case _: return None
x = [f({"t": "a", "n": 5}), f([1, 2, 3]), f("q"), f(0)]
`,
    leaves: { x: [5, [2, 3], 'q', null] },
  },
  {
    name: 'generators',
    source: String.raw`
def g():
    for i in range(3): yield i
def h():
    got = yield 1
    yield got
    yield from g()
c = h()
next(c)
x = [list(g()), sum(i for i in g()), c.send(5), list(c)]
del c
`,
    leaves: { x: [[0, 1, 2], 3, 5, [0, 1, 2]] },
  },
  {
    name: 'exceptions',
    source: String.raw`
try:
    {}["a"]
except KeyError as e:
    x = repr(e)
finally:
    y = 1
try:
    raise ValueError("x") from None
except* ValueError as eg:
    z = str(eg.exceptions[0])
try:
    try:
        1 / 0
    except ZeroDivisionError as error:
        error.add_note("note")
        raise RuntimeError("outer") from error
except RuntimeError as outer:
    w = [str(outer), str(outer.__cause__), outer.__cause__.__notes__]
`,
    leaves: { x: "KeyError('a')", y: 1, z: 'x', w: ['outer', 'division by zero', ['note']] },
  },
  {
    name: 'context managers',
    source: String.raw`
import contextlib
@contextlib.contextmanager
def c():
    yield 5
with c() as v, contextlib.suppress(KeyError):
    x = v
    {}["a"]
`,
    leaves: { v: 5, x: 5 },
  },
  {
    name: 'formatting',
    source: String.raw`
a = 3.14159
x = [f"{a:.2f} {a!r:>10} {1234567:,} {255:#x} {0.5:%}", "{:>5}|{:<5}|{:^5}".format(1, 2, 3), "%05.1f %s" % (2.5, "q"), "{d[a]} {l[0]}".format(d={"a": 1}, l=[2]), f"{data.a[0]=}", f"{'nested'} {"quotes"}", format(1e9, "g")]
`,
    leaves: {
      a: 3.14159,
      x: [
        '3.14    3.14159 1,234,567 0xff 50.000000%',
        '    1|2    |  3  ',
        '002.5 q',
        '1 2',
        'data.a[0]=1',
        'nested quotes',
        '1e+09',
      ],
    },
  },
  {
    name: 'texts',
    source: String.raw`
x = ["ß".upper(), "a,b".split(","), "Abc".swapcase(), "ab".translate(str.maketrans("a", "z")), "é".encode("utf-8").hex(), "é".encode("latin-1").hex(), b"\xff\xfea\x00".decode("utf-16"), "ünï.de".encode("idna").decode(), "x".center(5, "*"), "a\tb".expandtabs(), "ÅB".casefold(), b"\x80".decode("cp1252"), b"a\xff".decode("ascii", "replace"), "é".encode("ascii", "xmlcharrefreplace").decode(), "\u00e9".encode("unicode_escape").decode()]
`,
    leaves: {
      x: [
        'SS',
        ['a', 'b'],
        'aBC',
        'zb',
        'c3a9',
        'e9',
        'a',
        'xn--n-nga1b.de',
        '**x**',
        'a       b',
        'åb',
        '€',
        'a�',
        '&#233;',
        '\\xe9',
      ],
    },
  },
  {
    name: 'numbers',
    source: String.raw`
x = [10**20 % 7, -7 // 2, -7 % 3, divmod(-7, 2), round(2.5), round(2.675, 2), int("ff", 16), bin(5), 1_000, 0.1 + 0.2, 1e22, pow(2, 10, 7), pow(3, -1, 7), sum([.1] * 3), (5).bit_length(), 3 == 3.0, (10**30).__str__(), float.fromhex("0x1p3"), (0.5).as_integer_ratio()]
`,
    leaves: {
      x: [
        2,
        -4,
        2,
        [-4, 1],
        2,
        2.67,
        255,
        '0b101',
        1000,
        0.30000000000000004,
        1e22,
        2,
        5,
        0.30000000000000004,
        3,
        true,
        '1000000000000000000000000000000',
        8,
        [1, 2],
      ],
    },
  },
  {
    name: 'sorting',
    source: String.raw`
import bisect, heapq
x = sorted([{"a": 2}, {"a": 1}], key=lambda d: d["a"])
y = [d.a for d in data.l]
z = [bisect.bisect([1, 3], 2), heapq.nsmallest(2, [3, 1, 2])]
`,
    leaves: { x: [{ a: 1 }, { a: 2 }], y: [1], z: [1, [1, 2]] },
  },
  {
    name: 'closures',
    source: String.raw`
n = 0
def inc():
    global n
    n += 1
inc(); inc()
def o():
    v = 0
    def i():
        nonlocal v
        v += 1
    i()
    return v
x = [n, o(), (lambda *a, k=1, **kw: [a, k, kw])(1, 2, z=3)]
`,
    leaves: { n: 2, x: [2, 1, [[1, 2], 1, { z: 3 }]] },
  },
  {
    name: 'walrus and unpacking',
    source: String.raw`
if (m := len("abc")) > 2: x = m
a, *b = [1, 2, 3]
y = {**data.o, "q": 1}
z = [*b, 4]
`,
    leaves: { m: 3, x: 3, a: 1, b: [2, 3], y: { k: 'v', q: 1 }, z: [2, 3, 4] },
  },
  {
    name: 'records',
    source: String.raw`
data.new = {"k": 1}
x = [data.new["k"], "k" in data.o, data.o.get("zz", 5), [k for k in data.o], [v for k, v in data.o.items()], data.o | {"n": 1}, len(data.o), dict(data.o) == {"k": "v"}, isinstance(data, dict), getattr(data, "no", 7), hasattr(data, "a")]
del data.new
y = "new" in data
data.items = 5
z = [data["items"], callable(data.items), data.a]
`,
    leaves: {
      data: { a: [1, 2], l: [{ a: 1 }], o: { k: 'v' }, items: 5 },
      x: [1, true, 5, ['k'], ['v'], { k: 'v', n: 1 }, 1, true, true, 7, true],
      y: false,
      z: [5, true, [1, 2]],
    },
  },
  {
    name: 'records with fields named like methods',
    source: String.raw`
x = [conf["items"], sorted(conf.keys()), list(conf.items())[0], conf.get("keys"), len(conf), conf.z["get"], sorted(conf)]
conf.pop = 3
y = conf["pop"]
`,
    leaves: {
      conf: { items: [1], keys: 2, z: { get: 1 }, pop: 3 },
      x: [[1], ['items', 'keys', 'z'], ['items', [1]], 2, 3, 1, ['items', 'keys', 'z']],
      y: 3,
    },
  },
  {
    name: 'coroutines',
    source: String.raw`
async def f(): return 1
c = f()
try:
    c.send(None)
except StopIteration as e:
    x = e.value
del c
`,
    leaves: { x: 1 },
  },
  {
    name: 'templates',
    source: String.raw`
x = t"a{1}b".strings
`,
    leaves: { x: ['a', 'b'] },
  },
  {
    name: 'future',
    source: String.raw`
from __future__ import annotations
x = 1
`,
    leaves: { x: 1 },
  },
  {
    name: 'many steps',
    source: String.raw`
x = 0
for i in range(200000): x += i * i % 7
`,
    leaves: { x: 399999, i: 199999 },
  },
  {
    name: 'exec and eval',
    source: String.raw`
ns = {}
exec("a = 1 + 1", ns)
x = [ns["a"], eval("2 * 3"), len(compile("1", "f", "eval").co_code) > 0]
del ns
`,
    leaves: { x: [2, 6, true] },
  },
  {
    name: 'the main guard',
    source: String.raw`
def main():
    return 5
if __name__ == "__main__":
    x = main()
`,
    leaves: { x: 5 },
  },
  {
    name: 'type hints',
    source: String.raw`
from typing import TypedDict, Protocol, get_type_hints
class T(TypedDict):
    a: int
class K:
    b: "int"
type L = list[int]
def first[T](l: list[T]) -> T: return l[0]
x = [T(a=1), sorted(get_type_hints(K)), first([1]), str(list[int])]
`,
    leaves: { x: [{ a: 1 }, ['b'], 1, 'list[int]'] },
  },
  {
    name: 'descriptors',
    source: String.raw`
class P:
    def __init__(self): self._v = 1
    @property
    def v(self): return self._v
    @v.setter
    def v(self, n): self._v = n
    @staticmethod
    def s(): return 2
    @classmethod
    def c(cls): return cls.__name__
    def __add__(self, o): return self.v + o
    def __enter__(self): return self
    def __exit__(self, *a): return True
p = P()
p.v = 5
x = [p.v, P.s(), P.c(), p + 1]
with p: 1 / 0
del p
`,
    leaves: { x: [5, 2, 'P', 6] },
  },
];
