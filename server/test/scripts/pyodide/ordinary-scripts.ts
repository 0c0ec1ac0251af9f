/**
 * Ordinary scripts, with the variables that they leave. They use what the allowed modules offer in many ways, because a
 * sealed interpreter cannot import anything later: what is missing in runner.py shows here.
 */
import type { JsonObject } from '../../../src/engine/values/json.js';

export interface OrdinaryScript {
  readonly name: string;
  readonly source: string;
  readonly leaves: JsonObject;
}

/** The variables that every script starts with; those that it does not change are not repeated in `leaves`. */
export const INPUTS: JsonObject = {
  data: { a: [1, 2], l: [{ a: 1 }], o: { k: 'v' } },
  conf: { items: [1], keys: 2, z: { get: 1 } },
};

export const ORDINARY_SCRIPTS: readonly OrdinaryScript[] = [
  {
    name: 'json',
    source: String.raw`
import json
x = json.loads(json.dumps({"a": [1, 2.5, None, True, "é"]}, indent=2, sort_keys=True))
`,
    leaves: { x: { a: [1, 2.5, null, true, 'é'] } },
  },
  {
    name: 'math',
    source: String.raw`
import math
x = [math.sqrt(2), math.gcd(12, 18), math.comb(5, 2), math.isclose(0.1 + 0.2, 0.3), math.factorial(10)]
`,
    leaves: { x: [1.4142135623730951, 6, 10, true, 3628800] },
  },
  {
    name: 'datetime',
    source: String.raw`
from datetime import datetime, timedelta, timezone, date
d = datetime(2024, 2, 29, 12, 30, tzinfo=timezone.utc)
x = [d, d + timedelta(days=366), d.strftime("%Y-%m-%d %A %B"), datetime.strptime("03/Jan/2024:10:00:00 +0200", "%d/%b/%Y:%H:%M:%S %z"), datetime.fromisoformat("2024-01-01T00:00:00Z").timestamp(), datetime.fromtimestamp(0), date.today() > date(2024, 1, 1)]
`,
    leaves: {
      d: '2024-02-29T12:30:00Z',
      x: [
        '2024-02-29T12:30:00Z',
        '2025-03-01T12:30:00Z',
        '2024-02-29 Thursday February',
        '2024-01-03T10:00:00+02:00',
        1704067200,
        '1970-01-01T00:00:00',
        true,
      ],
    },
  },
  {
    name: 'time',
    source: String.raw`
import time
x = [time.time() > 1e9, time.strftime("%Y-%m-%d", time.gmtime(86400)), time.mktime(time.struct_time((2024, 1, 1, 0, 0, 0, 0, 1, 0))), list(time.localtime(86400)[:3]), time.perf_counter() > 0, time.monotonic() > 0, time.process_time() >= 0]
`,
    leaves: { x: [true, '1970-01-02', 1704067200, [1970, 1, 2], true, true, true] },
  },
  {
    name: 'years before 100',
    source: String.raw`
import time, calendar
x = [list(time.gmtime(-62135596800)[:8]), calendar.timegm((50, 3, 1, 0, 0, 0))]
`,
    leaves: { x: [[1, 1, 1, 0, 0, 0, 0, 1], -60584198400] },
  },
  {
    name: 'time zones',
    source: String.raw`
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError
try:
    x = str(ZoneInfo("Europe/Berlin"))
except ZoneInfoNotFoundError as error:
    x = "not found"
`,
    leaves: { x: 'not found' },
  },
  {
    name: 'decimal',
    source: String.raw`
from decimal import Decimal, ROUND_HALF_UP, getcontext, localcontext
getcontext().prec = 6
x = [str(Decimal("1.10") + Decimal("2.205")), str(Decimal("2.675").quantize(Decimal("0.01"), ROUND_HALF_UP)), Decimal(3) / 2, str(Decimal(1) / 3)]
`,
    leaves: { ROUND_HALF_UP: 'ROUND_HALF_UP', x: ['3.305', '2.68', 1.5, '0.333333'] },
  },
  {
    name: 'fractions',
    source: String.raw`
from fractions import Fraction
x = [str(Fraction(1, 3) + Fraction(1, 6)), Fraction(1, 4)]
`,
    leaves: { x: ['1/2', 0.25] },
  },
  {
    name: 'random',
    source: String.raw`
import random
random.seed(1)
a = random.random()
random.seed(1)
x = [a == random.random(), len(random.sample(range(10), 3)), random.choice([1]), random.SystemRandom().random() < 1, random.gauss(0, 1) < 100, sorted(random.Random(3).sample("abc", 3))]
`,
    leaves: { a: 0.13436424411240122, x: [true, 3, 1, true, true, ['a', 'b', 'c']] },
  },
  {
    name: 're',
    source: String.raw`
import re
x = [re.findall(r"\w+", "héllo wörld"), re.sub(r"(\d+)", lambda m: str(int(m[1]) * 2), "a1b22"), bool(re.fullmatch("a|b", "b", re.I)), re.compile(r"(?P<y>\d{4})-(?P<m>\d\d)").match("2024-05").groupdict()]
`,
    leaves: { x: [['héllo', 'wörld'], 'a2b44', true, { y: '2024', m: '05' }] },
  },
  {
    name: 'collections',
    source: String.raw`
from collections import Counter, defaultdict, OrderedDict, deque, namedtuple, ChainMap
P = namedtuple("P", "a b")
x = [Counter("abca").most_common(1), defaultdict(list, {"a": [1]}), deque([1, 2], maxlen=1), P(1, 2), P(1, 2)._asdict(), dict(ChainMap({"a": 1}, {"b": 2})), OrderedDict(a=1)]
`,
    leaves: { x: [[['a', 2]], { a: [1] }, [2], [1, 2], { a: 1, b: 2 }, { b: 2, a: 1 }, { a: 1 }] },
  },
  {
    name: 'itertools and functools',
    source: String.raw`
import itertools, functools, operator
@functools.lru_cache
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
x = [list(itertools.chain([1], [2])), functools.reduce(operator.add, [1, 2, 3]), [[k, len(list(g))] for k, g in itertools.groupby("aabb")], list(itertools.batched([1, 2, 3], 2)), fib(70), functools.partial(pow, 2)(5), list(itertools.accumulate([1, 2, 3]))]
`,
    leaves: {
      x: [
        [1, 2],
        6,
        [
          ['a', 2],
          ['b', 2],
        ],
        [[1, 2], [3]],
        190392490709135,
        32,
        [1, 3, 6],
      ],
    },
  },
  {
    name: 'statistics',
    source: String.raw`
import statistics
x = [statistics.mean([1, 2, 3]), statistics.quantiles([1, 2, 3, 4]), statistics.median([3, 1, 2]), statistics.mode("aab"), round(statistics.stdev([1, 2, 4]), 3)]
`,
    leaves: { x: [2, [1.25, 2.5, 3.75], 2, 'a', 1.528] },
  },
  {
    name: 'string',
    source: String.raw`
import string, textwrap
x = [string.ascii_letters[:3], string.Template("$a b").substitute(a=1), textwrap.shorten("hello big world", 10), textwrap.dedent("  a\n  b"), string.capwords("a b")]
`,
    leaves: { x: ['abc', '1 b', '[...]', 'a\nb', 'A B'] },
  },
  {
    name: 'hashes',
    source: String.raw`
import hashlib, hmac, base64, binascii, zlib
x = [hashlib.sha256(b"a").hexdigest()[:8], hashlib.md5(b"a").hexdigest()[:8], hashlib.sha1(b"a").hexdigest()[:8], hashlib.blake2b(b"a").hexdigest()[:8], hashlib.sha3_256(b"a").hexdigest()[:8], hashlib.new("sha512", b"a").hexdigest()[:8], hmac.new(b"k", b"m", "sha256").hexdigest()[:8], base64.urlsafe_b64encode(b"\xff\xfe").decode(), binascii.crc32(b"a"), zlib.decompress(zlib.compress(b"abc")).decode(), hmac.compare_digest("a", "a")]
`,
    leaves: {
      x: [
        'ca978112',
        '0cc175b9',
        '86f7e437',
        '333fcb4e',
        '80084bf2',
        '1f40fc92',
        'b60090e3',
        '__4=',
        3904355907,
        'abc',
        true,
      ],
    },
  },
  {
    name: 'uuid and secrets',
    source: String.raw`
import uuid, secrets
x = [str(uuid.uuid4())[14], str(uuid.uuid5(uuid.NAMESPACE_DNS, "a")), str(uuid.uuid1())[14], len(secrets.token_hex(8)), len(secrets.token_urlsafe(8)) > 8, secrets.randbelow(1)]
`,
    leaves: { x: ['4', '4f3f2898-69e3-5a0d-820a-c4e87987dbce', '1', 16, true, 0] },
  },
  {
    name: 'copy',
    source: String.raw`
import copy
x = copy.deepcopy(data)
x["a"].append(3)
y = data["a"]
z = copy.copy(data)
w = copy.deepcopy(conf)
`,
    leaves: {
      x: { a: [1, 2, 3], l: [{ a: 1 }], o: { k: 'v' } },
      y: [1, 2],
      z: { a: [1, 2], l: [{ a: 1 }], o: { k: 'v' } },
      w: { items: [1], keys: 2, z: { get: 1 } },
    },
  },
  {
    name: 'urls',
    source: String.raw`
import urllib.parse as u, html
x = [u.quote("a b/é"), u.urlencode({"a": 1}), u.urlparse("http://x:1/y?z=1#f").query, u.parse_qs("a=1&a=2"), u.urljoin("http://a/b/", "../c"), html.escape("<a>"), html.unescape("&eacute;")]
`,
    leaves: {
      x: ['a%20b/%C3%A9', 'a=1', 'z=1', { a: ['1', '2'] }, 'http://a/c', '&lt;a&gt;', 'é'],
    },
  },
  {
    name: 'csv',
    source: String.raw`
import csv, io
b = io.StringIO()
csv.writer(b).writerow(["a", "b,c"])
x = [b.getvalue(), list(csv.DictReader(io.StringIO("a,b\n1,2")))]
del b
`,
    leaves: { x: ['a,"b,c"\r\n', [{ a: '1', b: '2' }]] },
  },
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
    name: 'unicode',
    source: String.raw`
import unicodedata, difflib
x = [len(unicodedata.normalize("NFD", "é")), unicodedata.name("é"), unicodedata.category("a"), difflib.get_close_matches("appel", ["ape", "apple"]), difflib.SequenceMatcher(None, "abc", "abd").ratio() > 0.6]
`,
    leaves: { x: [2, 'LATIN SMALL LETTER E WITH ACUTE', 'Ll', ['apple', 'ape'], true] },
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
    name: 'xml',
    source: String.raw`
import xml.etree.ElementTree as E
x = [E.fromstring("<a b='1'><c>t</c></a>").find("c").text, E.tostring(E.Element("q")).decode()]
`,
    leaves: { x: ['t', '<q />'] },
  },
  {
    name: 'bytes',
    source: String.raw`
import struct, array, io
b = io.BytesIO(b"abc")
x = [struct.pack(">I", 1).hex(), list(array.array("i", [1, 2])), b.read(2).decode(), int.from_bytes(b"\x01\x00"), bytes.fromhex("61").decode(), bytearray(b"ab").decode(), memoryview(b"abc")[1]]
del b
`,
    leaves: { x: ['00000001', [1, 2], 'ab', 256, 'a', 'ab', 98] },
  },
  {
    name: 'network addresses',
    source: String.raw`
import ipaddress
x = [str(ipaddress.ip_network("10.0.0.0/30")[1]), ipaddress.ip_address("::1").is_loopback]
`,
    leaves: { x: ['10.0.0.1', true] },
  },
  {
    name: 'pretty printing',
    source: String.raw`
import pprint, shlex
x = [pprint.pformat({"b": 1, "a": 2}), shlex.split("a 'b c'"), shlex.quote("a b")]
`,
    leaves: { x: ["{'a': 2, 'b': 1}", ['a', 'b c'], "'a b'"] },
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
    name: 'records with fields that are named like methods',
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
    name: 'email',
    source: String.raw`
from email.utils import parseaddr, formatdate
x = [parseaddr("A <a@b.c>"), formatdate(0)]
`,
    leaves: { x: [['A', 'a@b.c'], 'Thu, 01 Jan 1970 00:00:00 -0000'] },
  },
  {
    name: 'graphs',
    source: String.raw`
import graphlib, operator, numbers, types, typing, calendar, colorsys, cmath, quopri
x = [list(graphlib.TopologicalSorter({"b": ["a"]}).static_order()), calendar.monthrange(2024, 2)[1], colorsys.rgb_to_hsv(1, 0, 0), abs(cmath.exp(0)), types.SimpleNamespace(a=1).a, operator.itemgetter(1)([1, 2]), isinstance(1, numbers.Integral)]
`,
    leaves: { x: [['a', 'b'], 29, [0, 1, 1], 1, 1, 2, true] },
  },
  {
    name: 'sys-like needs',
    source: String.raw`
import warnings, locale, contextlib, io
warnings.warn("hidden")
out = io.StringIO()
with contextlib.redirect_stdout(out):
    print("caught")
x = [out.getvalue(), locale.getlocale()[1] is not None or True]
del out
`,
    leaves: { x: ['caught\n', true] },
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
