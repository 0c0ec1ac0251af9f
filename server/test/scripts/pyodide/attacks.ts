/**
 * Attacks on the sandbox, as data. Each is a Python script; escape.test.ts checks that it does not succeed.
 *
 * `HOST.file`, `HOST.secretFile`, `HOST.port` and `HOST.pid` are replaced: a file that an escape could create, one that
 * it could read, a port that it could connect to, and the process of the server.
 */

export interface Attack {
  readonly name: string;
  readonly source: string;
}

export interface AttackTargets {
  readonly file: string;
  readonly secretFile: string;
  readonly port: number;
  readonly pid: number;
}

/**
 * The importer of built-in modules, the real `sys`, and the globals of runner.py: they are hidden, but not protected.
 */
const PRELUDE = [
  'B = [c for c in ().__class__.__base__.__subclasses__() if c.__name__ == "BuiltinImporter"][0]',
  'load = B.load_module',
  'sys = load("sys")',
  'f = sys._getframe()',
  'while "_settings" not in f.f_globals: f = f.f_back',
  'G = f.f_globals',
  'gc = load("gc")',
  'gc.unfreeze()',
].join('\n');

/** Other remaining variables could not be stored, and the error would hide what the attack got. */
const EPILOGUE = [
  'for _name, _value in list(globals().items()):',
  '  if _name in ("f", "G") or not isinstance(_value, (str, int, float, list, dict, type(None))): _name[0] == "_" or globals().pop(_name)',
].join('\n');

/** Not all variables of a script are its result: a leading underscore excludes the tools from it. */
const HOST_ATTACKS: Readonly<Record<string, string>> = {
  'shell by posix.system': 'x = load("posix").system("touch HOST.file")',
  'write by posix.open':
    'p = load("posix")\nfd = p.open("HOST.file", p.O_CREAT | p.O_WRONLY)\np.write(fd, b"x")',
  'read by posix.open':
    'p = load("posix")\nx = p.read(p.open("HOST.secretFile", p.O_RDONLY), 1000).decode()',
  'read by io.open': 'import io\nx = io.open("HOST.secretFile").read()',
  'write by io.open': 'import io\nio.open("HOST.file", "w").write("x")',
  'read by FileIO': 'import io\nx = io.FileIO("HOST.secretFile").readall().decode()',
  'read by open_code': 'import io\nx = io.open_code("HOST.secretFile").read().decode()',
  'list the root directory': 'x = load("posix").listdir("/")',
  'change the directory': 'load("posix").chdir("/tmp")\nx = load("posix").getcwd()',
  'create a directory': 'load("posix").mkdir("HOST.file")',
  'delete a file': 'load("posix").unlink("HOST.secretFile")',
  'rename a file': 'load("posix").rename("HOST.secretFile", "HOST.file")',
  'link a file': 'load("posix").symlink("HOST.secretFile", "HOST.file")',
  environment: 'x = {k.decode(): v.decode() for k, v in load("posix").environ.items()}',
  'read the environment by getenv':
    'x = repr([o for o in gc.get_objects() if type(o).__name__ == "_Environ"])',
  fork: 'x = load("posix").fork()',
  exec: 'load("posix").execv("/bin/sh", ["sh", "-c", "touch HOST.file"])',
  spawn: 'load("posix").posix_spawn("/bin/touch", ["touch", "HOST.file"], {})',
  'fork and exec': 'load("_posixsubprocess").fork_exec()',
  'kill the server': 'load("posix").kill(HOST.pid, 15)',
  'kill the parent': 'p = load("posix")\np.kill(p.getppid(), 15)',
  'signal handlers': 's = load("_signal")\ns.signal(2, s.SIG_IGN)\ns.alarm(1)\ns.raise_signal(2)',
  'end the process': 'load("posix")._exit(0)',
  abort: 'load("posix").abort()',
  pipe: 'p = load("posix")\nr, w = p.pipe()\np.write(w, b"x")\nx = p.read(r, 1)',
  'write to another descriptor':
    'p = load("posix")\nfor fd in range(3, 20):\n  try: p.write(fd, b"x" * 24)\n  except OSError: pass',
  'read standard input': 'x = load("posix").read(0, 100)',
  socket: 's = load("_socket").socket()\ns.connect(("127.0.0.1", HOST.port))\ns.send(b"x")',
  'open a listening socket': 's = load("_socket").socket()\ns.bind(("127.0.0.1", 0))\ns.listen()',
  'look up a host name': 'load("_socket").getaddrinfo("localhost", 80)',
  threads: 'load("_thread").start_new_thread(print, ("x",))',
  sleep: 'load("time").sleep(60)',
  select: 'load("select").select([0], [], [], 60)',
  'import js': 'import js\nx = str(js.process.env)',
  'the real import of js': 'x = G["_real_import"]("js").process.env',
  importlib: 'x = G["_real_import"]("importlib").import_module("js")',
  'the finder of the js module':
    'f = [o for o in gc.get_objects() if type(o).__name__ == "JsFinder"][0]\nx = str(f.jsproxies["pyodide_js"].version)',
  'every proxy object':
    'for o in gc.get_objects():\n  if type(o).__name__ == "JsProxy":\n    x = o.constructor.constructor("return process")()',
  'proxies of the finder':
    'for f in gc.get_objects():\n  if type(f).__name__ == "JsFinder":\n    for p in f.jsproxies.values():\n      x = p.constructor.constructor("return process")().env',
  run_js: 'x = G["_real_import"]("pyodide.code").run_js("process.env")',
  'the core of Pyodide': 'c = load("_pyodide_core")\nx = [getattr(c, n) for n in dir(c)]',
  'pyodide_js by modules':
    'x = sys.modules["pyodide_js"].loadPackage("http://127.0.0.1:HOST.port/x")',
  'sockets of Node':
    'f = [o for o in gc.get_objects() if type(o).__name__ == "JsFinder"][0]\nf.jsproxies["pyodide_js"].useNodeSockFS()',
  'mount the disk of the host':
    'f = [o for o in gc.get_objects() if type(o).__name__ == "JsFinder"][0]\nf.jsproxies["pyodide_js"].mountNodeFS("/x", "/")\nx = load("posix").listdir("/x")',
  'the event loop of Pyodide':
    'for o in gc.get_objects():\n  if type(o).__name__ == "WebLoop":\n    o.call_later(0, print, "x")',
  'emscripten by ctypes':
    'c = G["_real_import"]("ctypes")\nc.pythonapi.emscripten_run_script(b"require(\'fs\').writeFileSync(\'HOST.file\',\'x\')")',
  dlopen: 'c = load("_ctypes")\nx = c.dlopen("HOST.secretFile", 0)',
  dlsym: 'c = load("_ctypes")\nx = c.dlsym(c.dlopen(None, 0), "emscripten_run_script")',
  'every function of the table':
    'c = G["_real_import"]("ctypes")\nfor i in range(1, 20000):\n  try: c.CFUNCTYPE(c.c_int)(i)()\n  except BaseException: pass',
  'system by ctypes': 'c = G["_real_import"]("ctypes")\nc.pythonapi.system(b"touch HOST.file")',
  'read memory by ctypes':
    'c = G["_real_import"]("ctypes")\nx = c.string_at(0, 30_000_000).count(b"STEPWRIGHT")',
  'crafted bytecode':
    'import types\nf = lambda: 1\ncode = f.__code__.replace(co_code=bytes([100, 255] * 2000 + [36, 0]), co_stacksize=1)\nx = types.FunctionType(code, {})()',
  'crafted constants':
    'f = lambda: 1\nx = eval(f.__code__.replace(co_consts=(), co_code=f.__code__.co_code))',
  'walk objects by format strings':
    'class A:\n  def f(self): pass\nx = "{0.f.__globals__[G][_settings]}".format(A())',
  'runner globals': 'x = {k: repr(v)[:200] for k, v in G.items()}',
  'breakpoint hook': 'sys.breakpointhook()',
  'fault handler': 'load("faulthandler")._sigsegv()',
  'dump to a descriptor': 'load("faulthandler").dump_traceback(3)',
  'pickle of system':
    'import copy\nclass E:\n  def __reduce__(self): return (load("posix").system, ("touch HOST.file",))\ncopy.copy(E())',
  'the network by urllib':
    'G["_real_import"]("urllib.request").urlopen("http://127.0.0.1:HOST.port")',
  'tty and terminal size': 'x = load("posix").get_terminal_size(1)',
  'user and group': 'x = [load("posix").getuid(), load("posix").getpid()]\nload("posix").setuid(0)',
  umask: 'load("posix").umask(0)',
};

/** Attempts to leave something behind for the next call on the same interpreter. */
export const CONTAMINATIONS: Readonly<Record<string, string>> = {
  'builtins of scripts': 'G["_SCRIPT_BUILTINS"]["len"] = lambda x: 666',
  'builtins of expressions':
    'G["_EXPRESSION_BUILTINS"].update(len=lambda x: 666, str=lambda x: "evil")',
  'the real builtins': 'load("builtins").len = lambda x: 666',
  'a module': 'import math\nmath.floor = lambda x: 666',
  'the class of records': 'type(r).__getattr__ = lambda self, name: 666',
  'the encoder': 'G["_encode"] = lambda v: "666"',
  'the dumper': 'G["_dump"] = lambda v: "666"',
  'the cache of the compiler':
    'G["_compiled"]["data.a + 1"] = (compile("666", "", "eval"), frozenset(), True)',
  'the second check of purity': 'G["_looks_pure"] = lambda code: True',
  'the entry function': 'G["run"] = lambda *a: "{}\\n666"',
  'the code of the entry function': 'G["run"].__code__ = (lambda r, v, h: "{}\\n666").__code__',
  'the environment': 'G["_settings"]["environment"]["NAME"] = "evil"',
  limits: 'G["_settings"]["resultLimit"] = 10**9',
  progress: 'G["progress"].extend(b"x" * 100000)',
  'decimal context':
    'import decimal\ndecimal.getcontext().prec = 1\ndecimal.DefaultContext.prec = 1',
  'random seed':
    'import random\nrandom.seed(1)\nrandom.seed = lambda *a: None\nrandom.random = lambda: 0.5',
  'recursion limit': 'sys.setrecursionlimit(50)',
  'trace function': 'sys.settrace(lambda *a: exec("raise SystemExit"))',
  'audit hook':
    'def hook(name, args):\n  if name == "compile": raise RuntimeError("evil")\nsys.addaudithook(hook)',
  monitoring:
    'm = sys.monitoring\nm.use_tool_id(0, "x")\nm.register_callback(0, m.events.PY_START, lambda *a: 1 / 0)\nm.set_events(0, m.events.PY_START)',
  'standard output': 'sys.stdout = None\nsys.stderr = None',
  collector: 'gc.disable()\ngc.callbacks.append(lambda *a: 1 / 0)',
  modules: 'sys.modules.clear()',
  'meta path': 'class F:\n  def find_spec(self, *a): raise SystemExit\nsys.meta_path.append(F())',
  'exit handler': 'load("atexit").register(lambda: 1 / 0)',
  'a finalizer':
    'class D:\n  def __del__(self):\n    try: G["_encode"] = lambda v: "666"\n    except BaseException: pass\nG["keep"] = [D()]',
  'a pending call': 's = load("_signal")\ns.signal(2, lambda *a: 1 / 0)\ns.raise_signal(2)',
  'warnings as errors': 'import warnings\nwarnings.simplefilter("error")',
  json: 'import json\njson.loads = lambda *a: {"kind": "syntax", "mode": "script", "sources": []}',
  'regular expressions':
    'import re\nre._cache.clear()\nre.compile = None\nre.sub = lambda *a: "evil"',
  datetime: 'import datetime\ndatetime.datetime = None',
  'the limit of integer digits': 'sys.set_int_max_str_digits(640)',
  'dict by ctypes': 'c = G["_real_import"]("ctypes")\nc.memset(id({}), 0, 8)',
  'a small integer': 'c = G["_real_import"]("ctypes")\nc.memmove(id(2) + 12, id(5) + 12, 4)',
};

/** Attempts to deceive the server, or to make it fail. They replace the runner's response to a script. */
export const FORGERIES: Readonly<Record<string, string>> = {
  nothing: '""',
  null: '"null"',
  'a number': '"5"',
  'a list': '"[]"',
  'no names': '"{}"',
  'an unknown input as unchanged': '\'{"names":[],"unchanged":["__proto__"]}\'',
  'too few values': '\'{"names":["a","b"],"unchanged":[]}\\n1\'',
  'too many values': '\'{"names":["a"],"unchanged":[]}\\n1\\n2\'',
  'names that are not strings': '\'{"names":[{}],"unchanged":[]}\\n1\'',
  'a value that is not JSON': '\'{"names":["a"],"unchanged":[]}\\nfunction(){}\'',
  'a prototype': '\'{"names":["__proto__"],"unchanged":[]}\\n{"polluted":true}\'',
  'a deep value': '\'{"names":["a"],"unchanged":[]}\\n\' + "[" * 100000 + "]" * 100000',
  'an error that is not an object': '\'{"failed":[]}\'',
  'an error without a type': '\'{"failed":{"message":1}}\'',
  'an error with a huge message': '\'{"failed":{"type":"E","message":"\' + "x" * 1000000 + \'"}}\'',
  'characters beyond ASCII': '"\\u00e9\\U0001f600"',
  'a lone surrogate': '"\\ud800"',
  'a number instead of text': '5',
  'an exception': '1 / 0',
  'a huge response': '"x" * 50_000_000',
  never: '[0 for _ in iter(int, 1)]',
};

/** The same for the single value of an expression. */
export const FORGED_VALUES: Readonly<Record<string, string>> = {
  'two values': '"1\\n2"',
  'a value that is not JSON': '"x"',
  'a huge integer': '"9" * 1001',
  'a deep value': '"[" * 1000 + "]" * 1000',
  'a list instead of text': '[]',
  NaN: '"NaN"',
  'a huge value': '"1" * 10_000_000',
};

export function hostAttacks({ file, secretFile, port, pid }: AttackTargets): readonly Attack[] {
  return Object.entries(HOST_ATTACKS).map(([name, source]) => ({
    name,
    source: `${PRELUDE}\n${source
      .replaceAll('HOST.file', file)
      .replaceAll('HOST.secretFile', secretFile)
      .replaceAll('HOST.port', String(port))
      .replaceAll('HOST.pid', String(pid))}\n${EPILOGUE}`,
  }));
}

export const HOST_ATTACK_NAMES = Object.keys(HOST_ATTACKS);

export function withPrelude(source: string): string {
  return `${PRELUDE}\n${source}\n${EPILOGUE}`;
}
