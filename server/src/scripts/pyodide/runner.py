"""
The Python side: runs inside the interpreter, once before its memory is saved as the snapshot, then for every call.

`run(request, variables)` takes and returns text. The first line of the response is a JSON object that reports the
outcome; each further line is a value as JSON. The restrictions in this file keep honest code out of trouble and give
clear errors. They are NOT the wall: hostile code can reach everything in this file. The wall is around the interpreter
(gates.ts), and the server does not trust the interpreter's output (read-answer.ts).
"""

# Every module that scripts may import is imported now: a sealed interpreter has no files to import from.
import abc, array, ast, base64, binascii, bisect, builtins, calendar, cmath, collections, collections.abc, colorsys
import contextlib, copy, csv, dataclasses, datetime, decimal, difflib, email.utils, enum, fractions, functools, gc
import graphlib, hashlib, heapq, hmac, html, inspect, io, ipaddress, itertools, json, keyword, linecache, locale, math
import numbers, operator, pprint, quopri, random, re, secrets, shlex, statistics, string, struct, sys, textwrap, time
import traceback, types, typing, unicodedata, urllib.parse, uuid, warnings, xml.etree.ElementTree, zlib
import __future__, _pydatetime, _strptime, copyreg, importlib.resources, string.templatelib
import encodings.ascii, encodings.base64_codec, encodings.cp1252, encodings.cp437, encodings.hex_codec, encodings.idna
import encodings.iso8859_15, encodings.latin_1, encodings.punycode, encodings.rot_13, encodings.unicode_escape
import encodings.utf_16, encodings.utf_16_be, encodings.utf_16_le, encodings.utf_32, encodings.utf_8, encodings.utf_8_sig

IMPORTABLE = frozenset('''
    __future__ abc array base64 binascii bisect calendar cmath collections collections.abc colorsys contextlib copy csv
    dataclasses datetime decimal difflib email email.utils enum fractions functools graphlib hashlib heapq hmac html io
    ipaddress itertools json keyword locale math numbers operator pprint quopri random re secrets shlex statistics
    string struct textwrap time types typing unicodedata urllib urllib.parse uuid warnings xml xml.etree
    xml.etree.ElementTree zlib
'''.split())

# CPython's C code imports these on first use, through the builtins of the running code.
NEEDED_BY_C = frozenset('_io _pydatetime _strptime collections.abc copyreg string.templatelib'.split())

# From this value on, the server distinguishes floats from integers by their exponent (see exact-json.ts).
FLOATS_FROM = 2 ** 53
INTEGER_DIGITS = 1000
LARGEST_INTEGER = 10 ** INTEGER_DIGITS - 1
VARIABLES = frozenset(('data', 'context', 'environment', 'step', 'hook', 'secrets'))
USER_FILES = ('<expression>', '<script>')
MESSAGE_LIMIT = 2000
TRACEBACK_LIMIT = 4000
CODE_CACHE_SIZE = 2000
REQUEST_CACHE_SIZE = 500
LONGEST_CACHED_REQUEST = 2000

# Index of the item of a request that is being processed. The host reads these two bytes after it has interrupted a
# call.
progress = bytearray(2)

_settings = {'environment': {}, 'resultLimit': 2 ** 21, 'memoryLimit': 2 ** 27}


# ---------------------------------------------------------------------------------------------------------------------
# Data: objects whose fields are attributes too


class Record(dict):
    """A JSON object: `record["name"]` and `record.name` are the same field."""

    __slots__ = ()

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"there is no field '{name}'", name=name, obj=None) from None

    def __setattr__(self, name, value):
        self[name] = value

    def __delattr__(self, name):
        try:
            del self[name]
        except KeyError:
            raise AttributeError(f"there is no field '{name}'", name=name, obj=None) from None

    def __copy__(self):
        return Record(self)

    def __deepcopy__(self, memo):
        return Record({key: copy.deepcopy(value, memo) for key, value in self.items()})


# A record's own attributes are the methods of dict, so that the standard library, and scripts, can use it as a dict
# regardless of its keys. Only expressions look up the field first (see `_prefer_fields`).
_DICT_METHODS = frozenset(name for name in dir(dict) if not name.startswith('_'))


_decode = json.JSONDecoder(object_hook=Record).decode


def _stored_float(digits):
    """A float as the server returns it: 2.0 and 2 are the same, but 1e16 and -0.0 stay floats."""
    number = float(digits)
    if not number.is_integer() or abs(number) >= FLOATS_FROM:
        return number
    return int(number) if number or math.copysign(1, number) > 0 else number


_decode_stored = json.JSONDecoder(object_hook=Record, parse_float=_stored_float).decode


# ---------------------------------------------------------------------------------------------------------------------
# Results: Python values as JSON


def _isoformat(value):
    text = value.isoformat()
    return text[:-6] + 'Z' if text.endswith('+00:00') else text


def _decimal_number(value):
    if not value.is_finite() or abs(value.adjusted()) > 400:
        raise ValueError(f'the decimal {value} cannot be stored as a number')
    return int(value) if value == value.to_integral_value() else float(value)


def _elements(value):
    if len(value) > 10_000_000:
        raise ValueError(f'a {type(value).__name__} of {len(value)} elements is too large')
    return list(value)


def _set_elements(value):
    try:
        return sorted(value)
    except TypeError:
        return list(value)


# The order matters: a datetime is also a date.
_CONVERSIONS = (
    ((set, frozenset), _set_elements),
    ((datetime.datetime, datetime.date, datetime.time), _isoformat),
    (datetime.timedelta, datetime.timedelta.total_seconds),
    (decimal.Decimal, _decimal_number),
    (fractions.Fraction, float),
    (uuid.UUID, str),
    (enum.Enum, lambda value: value.value),
    ((range, collections.deque, collections.abc.KeysView, collections.abc.ValuesView, collections.abc.ItemsView), _elements),
    (types.MappingProxyType, dict),
)


def _convert(value):
    for kinds, convert in _CONVERSIONS:
        if isinstance(value, kinds):
            return convert(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    name = type(value).__name__
    if isinstance(value, (bytes, bytearray, memoryview)):
        raise TypeError(f'{name} cannot be stored: decode them, or turn them into text with base64')
    if isinstance(value, collections.abc.Iterator):
        raise TypeError(f'a {name} cannot be stored: turn it into a list with list()')
    raise TypeError(f'a value of type {name} cannot be stored as JSON')


# Not in ASCII: sizes count in UTF-8, and an escape takes up to three times as many bytes as its character.
_write = json.JSONEncoder(allow_nan=False, ensure_ascii=False, default=_convert, separators=(',', ':')).encode
_has_too_many_digits = re.compile(f'[0-9]{{{INTEGER_DIGITS + 1}}}').search
_quote = json.encoder.encode_basestring
_escape_surrogates = functools.partial(re.compile('[\ud800-\udfff]').sub, lambda match: f'\\u{ord(match[0]):04x}')


def _as_utf8(text):
    """JSON that can be encoded in UTF-8: unpaired surrogates, which UTF-8 cannot encode, are written as escapes."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return _escape_surrogates(text)
    return text


def _size(text):
    return len(text) if text.isascii() else len(text.encode())


def _dump(value):
    return _as_utf8(_write(value))


def _integer_too_long():
    return OverflowError(f'an integer has more than {INTEGER_DIGITS} digits and cannot be stored; store it as text')


def _short_integer(digits):
    if len(digits.lstrip('-')) > INTEGER_DIGITS:
        raise _integer_too_long()
    return 0


_check_integers = json.JSONDecoder(parse_int=_short_integer).decode


def _encode(value):
    """The value as one line of JSON. Raises an exception whose message says why the value cannot be stored."""
    kind = type(value)
    if kind is str:
        return _as_utf8(_quote(value))
    if kind is bool or value is None:
        return 'null' if value is None else 'true' if value else 'false'
    if kind is int and -LARGEST_INTEGER <= value <= LARGEST_INTEGER:
        return repr(value)
    if isinstance(value, int) and not -LARGEST_INTEGER <= value <= LARGEST_INTEGER:
        raise _integer_too_long()
    try:
        text = _dump(value)
    except ValueError as error:
        raise _clearer(error) from None
    if _has_too_many_digits(text):
        _check_integers(text)
    return text


def _clearer(error):
    text = str(error)
    if text.startswith('Out of range float'):
        return ValueError(f'{text.rpartition(" ")[2]} cannot be stored: JSON has no such number')
    if text.startswith('Circular reference'):
        return ValueError('the value contains itself and cannot be stored')
    if text.startswith('Exceeds the limit'):
        return _integer_too_long()
    return error


# ---------------------------------------------------------------------------------------------------------------------
# Errors


def _frames(error, source):
    """The lines of user code that led to the error, outermost first: (line, function, text)."""
    lines = source.split('\n')
    frames = []
    step = error.__traceback__
    while step is not None:
        code = step.tb_frame.f_code
        if code.co_filename in USER_FILES:
            number = step.tb_lineno or 0
            text = lines[number - 1].strip() if 0 < number <= len(lines) else ''
            frames.append((number, code.co_filename, code.co_name, text))
        step = step.tb_next
    return frames


def _format_traceback(frames, summary):
    shown = frames if len(frames) <= 15 else frames[:5] + frames[-10:]
    lines = ['Traceback (most recent call last):']
    for number, file, name, text in shown:
        lines.append(f'  File "{file}", line {number}, in {name}')
        if text:
            lines.append(f'    {text[:100]}')
    return '\n'.join(lines)[:TRACEBACK_LIMIT - len(summary) - 1] + '\n' + summary


def _describe(error, source):
    """An exception as a dict. Never raises, whatever the exception's own methods do."""
    try:
        name = type(error).__name__[:100]
        message = str(error)[:MESSAGE_LIMIT]
    except BaseException:
        name, message = 'Exception', 'an exception that cannot be shown'
    if isinstance(error, NonRetryableError):
        # The server decides by the type, even if the script raised its own subclass.
        message = message if type(error) is NonRetryableError else f'{name}: {message}'[:MESSAGE_LIMIT]
        name = 'NonRetryableError'
    if isinstance(error, MemoryError):
        name = 'MemoryLimit'
        message = f'the code exceeded the memory limit of {_settings["memoryLimit"] >> 20} MiB'
    if isinstance(error, SyntaxError) and error.filename in USER_FILES:
        message = str(error.msg)[:MESSAGE_LIMIT]
        return {'type': name, 'message': message, 'line': error.lineno, 'column': error.offset}
    try:
        frames = _frames(error, source)
        if not frames:
            return {'type': name, 'message': message, 'line': None}
        summary = f'{name}: {message}' if message else name
        trace = _format_traceback(frames, summary)
        return {'type': name, 'message': message, 'line': frames[-1][0], 'traceback': trace}
    except BaseException:
        return {'type': name, 'message': message, 'line': None}


def _too_large():
    limit = _settings['resultLimit']
    return {'type': 'ResultTooLarge', 'message': f'the result is larger than {limit} bytes', 'line': None}


def _begin(index):
    progress[0] = index & 255
    progress[1] = index >> 8 & 255


# ---------------------------------------------------------------------------------------------------------------------
# What user code sees

_HIDDEN = ('open', 'input', 'breakpoint', 'help', 'exit', 'quit', 'copyright', 'credits', 'license', '__import__')
_real_import = builtins.__import__


class NonRetryableError(Exception):
    """Raised by a script whose step would fail again in the same way: the step is not retried."""

    __module__ = 'builtins'


_INSTEAD = {
    'requests': 'use an HttpRequest step', 'httpx': 'use an HttpRequest step', 'aiohttp': 'use an HttpRequest step',
    'http': 'use an HttpRequest step', 'urllib.request': 'use an HttpRequest step', 'urllib3': 'use an HttpRequest step',
    'os': 'pass what the script needs as an input, for example environment["NAME"]',
    'logging': 'use print(), which writes to the log of the server',
    'zoneinfo': 'there are no named time zones; use an offset, for example timezone(timedelta(hours=1))',
}


def _refuse_import(name):
    """Names the module and says what to do instead. A submodule without a hint of its own gets that of its package."""
    instead = _INSTEAD.get(name) or _INSTEAD.get(name.partition('.')[0])
    near = difflib.get_close_matches(name, IMPORTABLE, 1, 0.8)
    hint = instead or (f"did you mean '{near[0]}'?" if near else '')
    allowed = ' '.join(sorted(module for module in IMPORTABLE if not module.startswith('_')))
    return ImportError(f"the module '{name}' cannot be imported{': ' if hint else ''}{hint}\n"
                       f'These modules can be imported: {allowed}', name=name)


def _import(name, globals=None, locals=None, fromlist=(), level=0):
    if level:
        raise ImportError('a script is not part of a package: relative imports are not possible')
    if name in NEEDED_BY_C:
        return _real_import(name, globals, locals, fromlist, 0)
    if name not in IMPORTABLE:
        raise _refuse_import(name)
    module = _real_import(name, globals, locals, fromlist, 0)
    for part in fromlist or ():
        # `from urllib import request` also imports a module.
        if hasattr(module, '__path__') and part != '*' and not hasattr(module, part):
            raise _refuse_import(f'{name}.{part}')
    return module


_SCRIPT_BUILTINS = {name: value for name, value in vars(builtins).items() if name not in _HIDDEN}
_SCRIPT_BUILTINS['__import__'] = _import
_SCRIPT_BUILTINS['NonRetryableError'] = NonRetryableError

def _field(value, name, *default):
    """The meaning of `value.name` in an expression: a field takes precedence over a method of dict."""
    if isinstance(value, Record) and dict.__contains__(value, name):
        return dict.__getitem__(value, name)
    return getattr(value, name, *default)


# No name in an expression can equal this one.
_FIELD = '.field'

_EXPRESSION_BUILTINS = _SCRIPT_BUILTINS | {
    _FIELD: _field, 'getattr': _field,
    'math': math, 'json': json, 're': re, 'random': random, 'uuid': uuid, 'base64': base64, 'hashlib': hashlib,
    'datetime': datetime.datetime, 'date': datetime.date, 'time': datetime.time, 'timedelta': datetime.timedelta,
    'timezone': datetime.timezone, 'Decimal': decimal.Decimal,
}


# ---------------------------------------------------------------------------------------------------------------------
# Expressions

_COMPREHENSIONS = ('<listcomp>', '<setcomp>', '<dictcomp>', '<genexpr>')
_compiled = {}


def _nested(code):
    return [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]


def _all_names(code):
    return set(code.co_names).union(*map(_all_names, _nested(code)))


def _looks_pure(code):
    """A second check of what the server has proved: no private names, no functions."""
    return not any(name.startswith('_') for name in code.co_names) and all(
        inner.co_name in _COMPREHENSIONS and _looks_pure(inner) for inner in _nested(code))


def _prefer_fields(source):
    """Compiles with `x.items`, and the like, as `_field(x, 'items')`. Uses a loop, because expressions may nest deeply."""
    tree = ast.parse(source, '<expression>', 'eval')
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        for field, child in ast.iter_fields(node):
            children = child if isinstance(child, list) else [child]
            for index, part in enumerate(children):
                if isinstance(part, ast.Attribute) and part.attr in _DICT_METHODS and isinstance(part.ctx, ast.Load):
                    part = _field_call(part)
                    if children is child:
                        children[index] = part
                    else:
                        setattr(node, field, part)
                if isinstance(part, ast.AST):
                    waiting.append(part)
    return compile(tree, '<expression>', 'eval', dont_inherit=True)


def _field_call(attribute):
    function = ast.copy_location(ast.Name(_FIELD, ast.Load()), attribute)
    name = ast.copy_location(ast.Constant(attribute.attr), attribute)
    return ast.copy_location(ast.Call(function, [attribute.value, name], []), attribute)


def _compile_expression(source):
    entry = _compiled.get(source)
    if entry is None:
        code = compile(source, '<expression>', 'eval', dont_inherit=True)
        names = _all_names(code)
        if not names.isdisjoint(_DICT_METHODS):
            code = _prefer_fields(source)
        entry = (code, VARIABLES & names, _looks_pure(code))
        if len(_compiled) >= CODE_CACHE_SIZE:
            _compiled.clear()
        _compiled[source] = entry
    return entry


def _load_variables(text, assigned):
    variables = _decode(text)
    variables['environment'] = Record(_settings['environment'])
    for name, value in assigned:
        _assign(variables, name, value)
    return variables


def _assign(variables, name, text):
    """Later expressions see the value that will be stored, which may differ from the computed one (a set becomes a list)."""
    data = variables.get('data')
    if data is None:
        data = variables['data'] = Record()
    data[name] = _decode_stored(text)


def _run_expressions(request, variables_text):
    sources, targets, pure = request['sources'], request['targets'], request.get('pure', False)
    # Whether each expression may change its variables in place. If so, the next one decodes them again.
    changing = request.get('changing') or [False] * len(sources)
    if not pure:
        # Otherwise, a restored interpreter would repeat its random numbers.
        random.seed()
    values, assigned, size, variables, shown = [], [], 0, None, ''
    try:
        for index, source in enumerate(sources):
            _begin(index)
            # A source that the server had put into parentheses is shown without them.
            shown = source[1:-2] if source.endswith('\n)') else source
            code, used, looks_pure = _compile_expression(source)
            if pure and not looks_pure:
                return '{"unproven":true}'
            if variables is None and used:
                variables = _load_variables(variables_text, assigned)
            names = {'__builtins__': _EXPRESSION_BUILTINS}
            for name in used:
                if name in variables:
                    names[name] = variables[name]
            text = _encode(eval(code, names))
            size += _size(text) + 1
            if size > _settings['resultLimit']:
                return '\n'.join([_dump({'failed': _too_large()}), *values])
            values.append(text)
            if changing[index]:
                variables = None
            if targets[index] is not None:
                assigned.append((targets[index], text))
                if variables is not None:
                    _assign(variables, targets[index], text)
    except BaseException as error:
        return '\n'.join([_dump({'failed': _describe(error, shown)}), *values])
    return '\n'.join(['{}', *values])


# ---------------------------------------------------------------------------------------------------------------------
# Scripts

_METHOD_KINDS = (types.MethodType, types.MethodWrapperType, types.MethodDescriptorType, types.WrapperDescriptorType,
                 types.ClassMethodDescriptorType)
_FUNCTION_KINDS = (types.FunctionType, types.BuiltinFunctionType, *_METHOD_KINDS, functools.partial,
                   type(functools.lru_cache(len)), operator.itemgetter, operator.attrgetter, operator.methodcaller)

# Variables that are code rather than data, and are not stored.
_LEFT_OUT = (types.ModuleType, type, types.GenericAlias, types.UnionType, *_FUNCTION_KINDS)


def _is_left_out(name, value):
    if type(name) is not str or name.startswith('_') or isinstance(value, _LEFT_OUT):
        return True
    return type(value).__module__ in ('typing', '__future__')


def _imported(source):
    """What the module itself takes from others by name: `(module, name, bound name)`. With `*`, all public names. Names that it
    also assigns are variables.
    """
    try:
        tree = ast.parse(source)
    except Exception:
        return []
    found, assigned, waiting = [], set(), [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.ImportFrom) and node.module in IMPORTABLE:
            module = sys.modules.get(node.module)
            for alias in node.names:
                names = _public(module) if alias.name == '*' else [alias.name]
                found.extend((module, name, name if alias.name == '*' else alias.asname or name) for name in names)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            assigned.add(node.id)
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            waiting.extend(ast.iter_child_nodes(node))
    return [entry for entry in found if entry[2] not in assigned]


def _public(module):
    return getattr(module, '__all__', None) or [name for name in vars(module) if not name.startswith('_')]


_NOTHING = object()


def _forget_imported(names, imported):
    """A constant such as `inf` that the script has only imported is no result of it."""
    for module, name, bound in imported:
        if bound in names and names[bound] is getattr(module, name, _NOTHING):
            del names[bound]


def _run_script(request, variables_text):
    source = request['source']
    random.seed()
    try:
        names = {key: value for key, value in _decode(variables_text).items() if not key.startswith('__')}
        given = {key: _encode(value) for key, value in names.items() if not key.startswith('_')}
        names['__name__'] = '__main__'
        names['__builtins__'] = _SCRIPT_BUILTINS
        # Scripts without such an import, which are most, are not parsed a second time.
        imported = _imported(source) if 'import' in source and 'from' in source else []
        exec(compile(source, '<script>', 'exec', dont_inherit=True), names)
        _forget_imported(names, imported)
        answer = _collect(names, given)
    except BaseException as error:
        answer = _dump({'failed': _describe(error, source)})
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:
        pass
    return answer


def _collect(names, given):
    """Every remaining variable, one per line, after the line with their names. Unchanged inputs are only named, and do not
    count towards the size of the result.
    """
    kept, unchanged, values, size = [], [], [], 0
    for name, value in list(names.items()):
        if _is_left_out(name, value):
            continue
        try:
            text = _encode(value)
        except Exception as error:
            return _dump({'failed': _describe_unstorable(name, error)})
        if given.get(name) == text:
            unchanged.append(name)
            continue
        size += _size(text) + _size(_dump(name)) + 2
        if size > _settings['resultLimit']:
            return _dump({'failed': _too_large()})
        kept.append(name)
        values.append(text)
    return '\n'.join([_dump({'names': kept, 'unchanged': unchanged}), *values])


def _describe_unstorable(name, error):
    described = _describe(error, '')
    reason = described['message']
    message = f"the variable '{name[:200]}' cannot be stored: {reason}; convert it, delete it, or begin its name with an underscore"
    return {'type': described['type'], 'message': message, 'line': None}


# ---------------------------------------------------------------------------------------------------------------------
# Syntax


def _check_syntax(request):
    file, mode = ('<script>', 'exec') if request['mode'] == 'script' else ('<expression>', 'eval')
    problems = []
    for index, source in enumerate(request['sources']):
        _begin(index)
        try:
            compile(source, file, mode, dont_inherit=True)
        except SyntaxError as error:
            problems.append([index, str(error.msg)[:MESSAGE_LIMIT], error.lineno, error.offset])
        except BaseException as error:
            problems.append([index, str(error)[:MESSAGE_LIMIT] or type(error).__name__, None, None])
    return _dump({'problems': problems})


# ---------------------------------------------------------------------------------------------------------------------
# The host's side


_requests = {}


def _read_request(text):
    """Cached, because a step sends the same expressions in every run."""
    request = _requests.get(text)
    if request is None:
        request = json.loads(text)
        if len(text) <= LONGEST_CACHED_REQUEST:
            if len(_requests) >= REQUEST_CACHE_SIZE:
                _requests.clear()
            _requests[text] = request
    return request


def run(request, variables):
    request = _read_request(request)
    kind = request['kind']
    if kind == 'expressions':
        return _run_expressions(request, variables)
    if kind == 'script':
        return _run_script(request, variables)
    return _check_syntax(request)


def configure(settings):
    _settings.update(json.loads(settings))
    sys.setrecursionlimit(_settings['recursionMax'])


def _warm_up():
    """Runs everything that Python sets up on first use, so that it is in the snapshot."""
    expressions = {'kind': 'expressions', 'sources': ['data.a + 1', '1/0'], 'targets': [None, None]}
    more = ['[i for i in data.l if i > 1]', "data['items']", "f'{data.a:>3}'", 'json.dumps(data)', 'str(uuid.uuid4())']
    script = 'import re, math\nimport datetime\nc = a + b\nd = datetime.datetime.now()\ne = re.sub("a", "b", "aa")'
    for _ in range(30):
        run(json.dumps(expressions), '{"data":{"a":1}}')
        run(json.dumps({**expressions, 'sources': more, 'targets': [None] * 5}), '{"data":{"a":1,"l":[1,2],"items":1}}')
        run(json.dumps({'kind': 'script', 'source': script}), '{"a":1,"b":2}')
        run(json.dumps({'kind': 'syntax', 'mode': 'script', 'sources': ['a = 1', 'a = ']}), '{}')
    datetime.datetime.strptime('2020-01-01', '%Y-%m-%d')
    datetime.datetime.now().astimezone()
    _compiled.clear()
    _requests.clear()


_warm_up()
# A collection writes to every object that is not frozen. In the snapshot, that is done once and for all, so that hardly any
# memory of a booted interpreter differs from it (pristine-memory.ts).
gc.collect()
gc.freeze()


def finish():
    """Called once after the snapshot was loaded, just before the interpreter is sealed."""
    import os

    # To show a warning, Python would look it up in source files.
    warnings.simplefilter('ignore')
    sys.stdout.reconfigure(line_buffering=True)

    def sleep(seconds):
        raise RuntimeError('time.sleep() is not available to scripts: use a Delay step')

    time.sleep = sleep
    # In a sealed interpreter, they are harmless; removing them makes the errors clear.
    unavailable = {'js', 'pyodide_js', '_pyodide_core', 'pyodide', '_pyodide', 'pyodide_http', 'asyncio', 'ctypes',
                   '_ctypes', 'subprocess', 'socket', '_socket', 'ssl', 'webbrowser'}
    for name in [name for name in sys.modules if name.split('.')[0] in unavailable]:
        del sys.modules[name]
    # From now on, only modules that are already loaded can be imported, so their archive (2.5 MB) is not needed either.
    sys.meta_path.clear()
    for path in sys.path:
        if path.endswith('.zip'):
            os.remove(path)
    sys.path.clear()
    sys.path_hooks.clear()
    gc.collect()
    gc.freeze()
