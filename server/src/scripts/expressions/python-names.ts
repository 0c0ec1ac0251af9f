/**
 * Closed lists of the Python names that the server knows. Anything not listed is assumed to be able to do anything.
 *
 * A name may be added to a PURE list only if no call of it, with any arguments that a pure expression can create,
 * changes an object that outlives the call, or calls back into something that is not pure itself.
 */

/** The variables of an expression. */
export const VARIABLE_NAMES: ReadonlySet<string> = new Set([
  'data',
  'context',
  'environment',
  'step',
  'hook',
  'secrets',
]);

export const KEYWORDS: ReadonlySet<string> = new Set(
  (
    'False None True and as assert async await break class continue def del elif else except finally for from ' +
    'global if import in is lambda nonlocal not or pass raise return try while with yield'
  ).split(' '),
);

/** Every name that is defined without being bound: Python's builtins, and the additions of runner.py. */
export const RESERVED_NAMES: ReadonlySet<string> = new Set([
  ...VARIABLE_NAMES,
  ...KEYWORDS,
  ...(
    'math json re random uuid base64 hashlib datetime date time timedelta timezone Decimal ' +
    'abs aiter all anext any ascii bin bool breakpoint bytearray bytes callable chr classmethod compile complex ' +
    'copyright credits delattr dict dir divmod enumerate eval exec exit filter float format frozenset getattr ' +
    'globals hasattr hash help hex id input int isinstance issubclass iter len license list locals map max ' +
    'memoryview min next object oct open ord pow print property quit range repr reversed round set setattr slice ' +
    'sorted staticmethod str sum super tuple type vars zip Ellipsis NotImplemented match case self'
  ).split(' '),
]);

/** The arguments that a call may have. */
export interface CallShape {
  /** Allowed keywords; by default, none. `*` allows any (they become the keys of a dict). */
  readonly keywords?: readonly string[];
  readonly maxPositional?: number;
}

const ANY: CallShape = {};
const DATE = ['year', 'month', 'day'];
const TIME = ['hour', 'minute', 'second', 'microsecond'];

export const PURE_FUNCTIONS: ReadonlyMap<string, CallShape> = new Map<string, CallShape>([
  ...'abs all any bin bool chr divmod float frozenset hasattr hex isinstance len list oct ord pow range repr reversed set tuple'
    .split(' ')
    .map((name): [string, CallShape] => [name, ANY]),
  // With more arguments, it decodes bytes, using codecs that remember their names.
  ['str', { maxPositional: 1 }],
  ['int', { keywords: ['base'] }],
  ['round', { keywords: ['ndigits'] }],
  ['sum', { keywords: ['start'] }],
  ['enumerate', { keywords: ['start'] }],
  // `key` must not be allowed: it would be called.
  ['sorted', { keywords: ['reverse'] }],
  ['max', { keywords: ['default'] }],
  ['min', { keywords: ['default'] }],
  ['zip', { keywords: ['strict'] }],
  ['dict', { keywords: ['*'] }],
  ['datetime', { keywords: [...DATE, ...TIME] }],
  ['date', { keywords: DATE }],
  ['time', { keywords: TIME }],
  [
    'timedelta',
    { keywords: 'days seconds microseconds milliseconds minutes hours weeks'.split(' ') },
  ],
]);

/** Types that may be the second argument of isinstance; types are not values anywhere else. */
export const PURE_TYPES: ReadonlySet<string> = new Set(
  'str int float bool list dict tuple set datetime date time timedelta'.split(' '),
);

/** Attributes of modules and classes that may be read. */
export const PURE_CONSTANTS: ReadonlySet<string> = new Set([
  'math.pi',
  'math.e',
  'math.tau',
  'timezone.utc',
]);

/** Functions of modules and classes, written `module.function`. */
export const PURE_QUALIFIED_FUNCTIONS: ReadonlyMap<string, CallShape> = new Map<string, CallShape>([
  ...(
    'ceil floor trunc fabs sqrt cbrt pow exp log log2 log10 sin cos tan asin acos atan atan2 degrees radians ' +
    'hypot gcd lcm isnan isinf isfinite copysign fmod fsum prod'
  )
    .split(' ')
    .map((name): [string, CallShape] => [`math.${name}`, ANY]),
  ['json.dumps', { maxPositional: 1, keywords: ['indent', 'sort_keys', 'ensure_ascii'] }],
  ['json.loads', { maxPositional: 1 }],
  ['uuid.uuid4', { maxPositional: 0 }],
  ['datetime.now', ANY],
  ['datetime.today', ANY],
  ['datetime.fromisoformat', ANY],
  ['datetime.fromtimestamp', { keywords: ['tz'] }],
  ['date.today', ANY],
  ['date.fromisoformat', ANY],
  ['time.fromisoformat', ANY],
]);

/** Methods of strings, numbers, lists, dicts, sets and times that change nothing, on any object. */
export const PURE_METHODS: ReadonlySet<string> = new Set(
  (
    'capitalize casefold center count endswith expandtabs find index isalnum isalpha isascii isdecimal isdigit ' +
    'isidentifier islower isnumeric isprintable isspace istitle isupper join ljust lower lstrip partition ' +
    'removeprefix removesuffix replace rfind rindex rjust rpartition rsplit rstrip split splitlines startswith ' +
    'strip swapcase title upper zfill ' +
    'get keys values items copy ' +
    'union intersection difference symmetric_difference isdisjoint issubset issuperset ' +
    'bit_length bit_count is_integer as_integer_ratio conjugate ' +
    'isoformat date time timetz timestamp weekday isoweekday isocalendar total_seconds strftime utcoffset toordinal'
  ).split(' '),
);

/** Keywords of some pure methods; the methods do not call their values. */
export const PURE_METHOD_KEYWORDS: ReadonlySet<string> = new Set([
  ...'sep maxsplit keepends tabsize timespec'.split(' '),
  ...DATE,
  ...TIME,
]);

export const DICT_METHODS: ReadonlySet<string> = new Set(
  'clear copy fromkeys get items keys pop popitem setdefault update values'.split(' '),
);

/** Attributes of frames, generators, tracebacks and code objects: they lead to objects outside the data. */
export const INTROSPECTION = /^(?:gi|cr|ag|tb|f|co|func|im)_/;
