/**
 * The names that are defined in every expression, and the modules that scripts may import. Tests compare both lists
 * with the interpreter.
 */

/** The names that runner.py adds to Python's builtins. */
const GIVEN =
  'math json re random uuid base64 hashlib datetime date time timedelta timezone Decimal';

const BUILTINS =
  'abs aiter all anext any ascii bin bool bytearray bytes callable chr classmethod compile complex delattr dict dir ' +
  'divmod enumerate eval exec filter float format frozenset getattr globals hasattr hash hex id int isinstance ' +
  'issubclass iter len list locals map max memoryview min next object oct ord pow print property range repr reversed ' +
  'round set setattr slice sorted staticmethod str sum super tuple type vars zip Ellipsis NotImplemented ' +
  'False None True';

const EXCEPTIONS =
  'ArithmeticError AssertionError AttributeError BaseException BaseExceptionGroup BlockingIOError BrokenPipeError ' +
  'BufferError BytesWarning ChildProcessError ConnectionAbortedError ConnectionError ConnectionRefusedError ' +
  'ConnectionResetError DeprecationWarning EOFError EncodingWarning EnvironmentError Exception ExceptionGroup ' +
  'FileExistsError FileNotFoundError FloatingPointError FutureWarning GeneratorExit IOError ImportError ' +
  'ImportWarning IndentationError IndexError InterruptedError IsADirectoryError KeyError KeyboardInterrupt ' +
  'LookupError MemoryError ModuleNotFoundError NameError NotADirectoryError NotImplementedError OSError ' +
  'OverflowError PendingDeprecationWarning PermissionError ProcessLookupError PythonFinalizationError ' +
  'RecursionError ReferenceError ResourceWarning RuntimeError RuntimeWarning StopAsyncIteration StopIteration ' +
  'SyntaxError SyntaxWarning SystemError SystemExit TabError TimeoutError TypeError UnboundLocalError ' +
  'UnicodeDecodeError UnicodeEncodeError UnicodeError UnicodeTranslateError UnicodeWarning UserWarning ' +
  'ValueError Warning ZeroDivisionError';

export const EXPRESSION_NAMES: ReadonlySet<string> = new Set(
  `${GIVEN} ${BUILTINS} ${EXCEPTIONS}`.split(' '),
);

/** The names whose value differs from one evaluation to the next. */
export const VARYING_NAMES: ReadonlySet<string> = new Set(
  'random uuid datetime date time hash id object'.split(' '),
);

export const IMPORTABLE_MODULES: ReadonlySet<string> = new Set(
  (
    '__future__ abc array base64 binascii bisect calendar cmath collections collections.abc colorsys contextlib copy ' +
    'csv dataclasses datetime decimal difflib email email.utils enum fractions functools graphlib hashlib heapq hmac ' +
    'html io ipaddress itertools json keyword locale math numbers operator pprint quopri random re secrets shlex ' +
    'statistics string struct textwrap time types typing unicodedata urllib urllib.parse uuid warnings xml xml.etree ' +
    'xml.etree.ElementTree zlib'
  ).split(' '),
);
