/**
 * Scripts that use the allowed modules in many ways. A sealed interpreter cannot import anything later: imports that
 * are missing in runner.py are noticed here.
 */
import type { OrdinaryScript } from './ordinary-script.js';

export const LIBRARY_SCRIPTS: readonly OrdinaryScript[] = [
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
from datetime import datetime, timedelta, timezone
x = datetime(2030, 7, 1, 12, tzinfo=timezone.utc).astimezone(timezone(timedelta(hours=2))).isoformat()
`,
    leaves: { x: '2030-07-01T14:00:00+02:00' },
  },
  {
    name: 'imported constants',
    source: String.raw`
from math import inf, nan, pi as PI
from decimal import *
from string import digits, hexdigits
from calendar import MONDAY
best = min(inf, 5)
total = str(Decimal("0.1") + 1)
digits = digits + "x"
if PI > 3:
    from math import e, tau
    tau = tau
MONDAY = MONDAY

def inside():
    from math import pi
    return round(pi)

three = inside()
`,
    leaves: {
      best: 5,
      total: '1.1',
      digits: '0123456789x',
      tau: 6.283185307179586,
      MONDAY: 0,
      three: 3,
    },
  },
  {
    name: 'decimal',
    source: String.raw`
from decimal import Decimal, ROUND_HALF_UP, getcontext, localcontext
getcontext().prec = 6
x = [str(Decimal("1.10") + Decimal("2.205")), str(Decimal("2.675").quantize(Decimal("0.01"), ROUND_HALF_UP)), Decimal(3) / 2, str(Decimal(1) / 3)]
`,
    leaves: { x: ['3.305', '2.68', 1.5, '0.333333'] },
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
    name: 'unicode',
    source: String.raw`
import unicodedata, difflib
x = [len(unicodedata.normalize("NFD", "é")), unicodedata.name("é"), unicodedata.category("a"), difflib.get_close_matches("appel", ["ape", "apple"]), difflib.SequenceMatcher(None, "abc", "abd").ratio() > 0.6]
`,
    leaves: { x: [2, 'LATIN SMALL LETTER E WITH ACUTE', 'Ll', ['apple', 'ape'], true] },
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
];
