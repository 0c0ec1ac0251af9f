/**
 * One Pyodide interpreter, cut off from JavaScript: text goes in, text comes out, nothing else.
 *
 * Owns: booting, sealing, calling into and restoring one interpreter. Must not know: processes, frames, expressions.
 *
 *  I1 Once sealed, the guest reaches only `guest-calls.ts` (see gates.ts). The host talks to Python with CPython's C
 *     interface on the raw WebAssembly exports; there are no proxies and no callbacks.
 *  I2 All state of Python lives in linear memory. It is copied when sealed and copied back, so that code that is not
 *     proven pure meets a pristine interpreter and leaves nothing behind. What WebAssembly keeps elsewhere is put back too,
 *     or compared (pristine-references.ts); an interpreter that differs there is not used again.
 *  I3 Every call can be broken off from outside. V8 stops WebAssembly anywhere, inside of one regex or one power as well.
 *  I4 Purity comes from the caller, who decided it without asking this interpreter.
 */
import { DeniedCall, Gates } from './gates.js';
import { createGuestCalls, PrintedText } from './guest-calls.js';
import { ANSWER_OVERHEAD_BYTES, type Outcome } from './frames.js';
import { InterruptibleSection } from './interruptible-section.js';
import { PlacedSnapshot, PristineMemory } from './pristine-memory.js';
import { PristineReferences } from './pristine-references.js';
import {
  importPyodide,
  type EmscriptenSettings,
  type Pointer,
  type PyodideInterface,
  type PythonExports,
} from './pyodide-module.js';

export interface SealOptions {
  /** Where Pyodide is. */
  readonly pyodideFolder: string;
  /** The text of runner.py. */
  readonly runner: string;
  /** Memory of an interpreter that has run `runner` already. It is used up. */
  readonly snapshot: Uint8Array<ArrayBuffer> | null;
  readonly memoryLimitBytes: number;
  readonly resultLimitBytes: number;
  readonly outputLimitBytes: number;
  readonly recursionMax: number;
  readonly environment: Readonly<Record<string, string>>;
}

export interface CallRequest {
  readonly request: Buffer;
  readonly variables: Buffer;
  readonly pure: boolean;
}

export interface CallOutcome {
  readonly outcome: Outcome;
  readonly result: Buffer;
  readonly output: Buffer;
  readonly progress: number;
  readonly deniedCalls: number;
}

declare const WebAssembly: {
  instantiate: (code: ArrayBuffer | Uint8Array, imports: object) => Promise<unknown>;
};

const NOTHING = Buffer.alloc(0);
const EMPTY_OBJECT = Buffer.from('{}');
/** Pure calls leave freed memory behind; now and then it is cleaned too. */
const PURE_CALLS_BETWEEN_RESTORES = 1000;
/** Node shares the memory of small ones. */
const SMALL_MODULE_BYTES = 1 << 20;
const MODULE_NAME = '_stepwright';

interface BootedModule {
  readonly python: PyodideInterface;
  readonly exports: PythonExports;
  readonly gates: Gates;
  readonly printed: PrintedText;
}

/** The memory of an interpreter that is ready to be configured and sealed. */
export async function makeSnapshot(options: SealOptions): Promise<Uint8Array> {
  const { python } = await bootModule({ ...options, snapshot: null }, { _makeSnapshot: true });
  loadRunner(python, options.runner);
  return python.makeMemorySnapshot();
}

export async function bootSealed(options: SealOptions): Promise<SealedInterpreter> {
  const { snapshot } = options;
  const booted = await bootModule(options, {});
  if (snapshot === null) loadRunner(booted.python, options.runner);
  else releaseMemory(snapshot.buffer);
  booted.python.runPython(`import ${MODULE_NAME}; ${MODULE_NAME}.finish()`);
  const interpreter = new SealedInterpreter(booted, options);
  interpreter.testSeal();
  return interpreter;
}

async function bootModule(
  options: SealOptions,
  snapshotOption: { _makeSnapshot?: true },
): Promise<BootedModule> {
  removeStackSwitching();
  releaseCodeOnceCompiled();
  const { loadPyodide, createPyodideModule } = await importPyodide(options.pyodideFolder);
  let exports: PythonExports | null = null;
  const printed = new PrintedText(options.outputLimitBytes);
  const gates = new Gates(
    createGuestCalls({
      exports: () => requireExports(exports),
      memoryLimitBytes: options.memoryLimitBytes,
      output: printed,
      onDenied: (name) => gates.note(name),
    }),
  );
  const installGates = (settings: EmscriptenSettings): Promise<unknown> => {
    const instantiate = settings.instantiateWasm;
    settings.instantiateWasm = (imports, done) => {
      gates.install(imports);
      return instantiate(imports, (instance, module) => {
        gates.assertComplete(imports, module);
        // Pyodide's module exports CPython's interface; a missing function fails the self-test.
        exports = instance.exports as PythonExports;
        done(instance, module);
      });
    };
    return createPyodideModule(settings);
  };
  const loadOption =
    options.snapshot === null
      ? {}
      : { _loadSnapshot: placed(options.snapshot, () => requireExports(exports).memory.buffer) };
  const python = await loadPyodide({
    indexURL: options.pyodideFolder,
    env: { HOME: '/', TZ: 'UTC' },
    // The type's prototype would be a way to the host's own objects while Pyodide boots.
    jsglobals: Object.create(null) as object,
    stdin: () => null,
    stdout: () => undefined,
    stderr: () => undefined,
    createPyodideModule: installGates,
    ...snapshotOption,
    ...loadOption,
  });
  return { python, exports: requireExports(exports), gates, printed };
}

/**
 * Pyodide uses WebAssembly's stack switching where it finds it, to wait for promises. A sealed interpreter has nothing
 * to wait for, and an import that suspends is not a function that a gate could stand in front of.
 */
function removeStackSwitching(): void {
  for (const name of ['Suspending', 'promising']) Reflect.deleteProperty(WebAssembly, name);
}

function requireExports(exports: PythonExports | null): PythonExports {
  if (exports === null) throw new Error('Pyodide did not instantiate its module');
  return exports;
}

/** Runs runner.py as a module of its own, so that `__main__` stays free for scripts. */
function loadRunner(python: PyodideInterface, runner: string): void {
  python.runPython(
    [
      'import sys, types',
      `module = sys.modules["${MODULE_NAME}"] = types.ModuleType("${MODULE_NAME}")`,
      // JSON text is a Python literal as well.
      `exec(compile(${JSON.stringify(runner)}, "<runner>", "exec"), module.__dict__)`,
      'del module, sys, types',
    ].join('\n'),
  );
}

function placed(snapshot: Uint8Array<ArrayBuffer>, target: () => ArrayBuffer): Uint8Array {
  const { buffer, byteOffset, length } = snapshot;
  const image = new PlacedSnapshot(buffer, byteOffset, length);
  image.target = target;
  return image;
}

/** Pyodide keeps the file of its module alive, 9 MB, of which V8 has made its own copy. */
function releaseCodeOnceCompiled(): void {
  const { instantiate } = WebAssembly;
  WebAssembly.instantiate = async (code, imports) => {
    const instantiated = await instantiate(code, imports);
    const bytes = ArrayBuffer.isView(code) ? code.buffer : code;
    if (bytes.byteLength > SMALL_MODULE_BYTES) releaseMemory(bytes);
    return instantiated;
  };
}

/** Frees what others keep alive and will not look at again, by moving it elsewhere. */
function releaseMemory(buffer: ArrayBufferLike): void {
  if (buffer instanceof ArrayBuffer) structuredClone(buffer, { transfer: [buffer] });
}

class ResultTooLarge extends Error {}
class NotText extends Error {}

export class SealedInterpreter {
  private readonly python: PythonExports;
  private readonly gates: Gates;
  private readonly printed: PrintedText;
  private readonly resultLimitBytes: number;
  private readonly runFunction: Pointer;
  private readonly progressCell: Pointer;
  /** Room for the argument vector of a call and for the length of its result. */
  private readonly scratch: Pointer;
  private readonly pristineMemory: PristineMemory;
  private readonly pristineStack: Pointer;
  private readonly pristineReferences: PristineReferences;
  private readonly interruptible: InterruptibleSection;
  private readonly encoder = new TextEncoder();

  private arguments: readonly Buffer[] = [];
  private answer: Buffer = NOTHING;
  /** Something ran that may have changed the interpreter. */
  private dirty = false;
  /** Something ran since the last restore; what it freed may still be readable. */
  private used = false;
  private pureCalls = 0;

  constructor(booted: BootedModule, options: SealOptions) {
    this.python = booted.exports;
    this.gates = booted.gates;
    this.printed = booted.printed;
    this.resultLimitBytes = options.resultLimitBytes;
    this.scratch = this.python.malloc(32) >>> 0;
    this.runFunction = this.lookUp('run');
    this.progressCell = this.python.PyByteArray_AsString(this.lookUp('progress')) >>> 0;
    this.configure(options);
    this.interruptible = new InterruptibleSection(`__${MODULE_NAME}_call`, () => this.callPython());
    this.arguments = [
      Buffer.from('{"kind":"expressions","sources":[],"targets":[]}'),
      EMPTY_OBJECT,
    ];
    this.callPython();
    this.gates.seal();
    this.printed.take();
    this.pristineMemory = new PristineMemory(this.python.memory.buffer);
    this.pristineStack = this.python.emscripten_stack_get_current();
    this.pristineReferences = new PristineReferences(this.python);
  }

  get heapBytes(): number {
    return this.python.memory.buffer.byteLength;
  }

  call({ request, variables, pure }: CallRequest): CallOutcome {
    this.prepareFor(pure);
    this.arguments = [request, variables];
    this.answer = NOTHING;
    this.gates.forgetDenied();
    this.dirty = this.used = true;
    const failure = this.runInterruptible();
    const deniedCalls = this.gates.deniedCalls;
    const change = pure ? null : this.pristineReferences.findChange();
    const broken = change === null ? failure : { outcome: 'broken' as const, note: change };
    const outcome = deniedCalls > 0 ? 'denied' : (broken?.outcome ?? 'answered');
    if (pure && outcome === 'answered' && ++this.pureCalls < PURE_CALLS_BETWEEN_RESTORES) {
      this.dirty = false;
    }
    const note = outcome === 'denied' ? this.gates.deniedNames.join(', ') : (broken?.note ?? '');
    return {
      outcome,
      result: outcome === 'answered' ? this.answer : Buffer.from(note),
      output: this.printed.take(),
      progress: this.readProgress(),
      deniedCalls,
    };
  }

  /** What the next call finds is what it may find: pristine, or used by pure calls only if it is pure itself. */
  prepareFor(pure: boolean): void {
    if (this.dirty || (this.used && !pure)) this.restore();
  }

  /** Makes the interpreter as it was when it was sealed, if the last call may have changed it. */
  restoreIfChanged(): void {
    if (this.dirty) this.restore();
  }

  /**
   * Proves the seal on this very instance, before anything untrusted runs on it: two well-known ways out must end at
   * a gate.
   * @throws Error when one does not
   */
  testSeal(): void {
    const importer =
      'B=[c for c in ().__class__.__base__.__subclasses__() if c.__name__=="BuiltinImporter"][0]\n';
    this.expectDenied(`${importer}B.load_module("posix").system("true")`, '_emscripten_system');
    this.expectDenied(
      `${importer}g=B.load_module("gc")\ng.unfreeze()\n` +
        '[o for o in g.get_objects() if type(o).__name__=="JsFinder"][0].jsproxies["pyodide_js"].version',
      'JsProxy_GetAttr_js',
    );
    this.expectAnswer();
  }

  private expectDenied(source: string, gate: string): void {
    const request = Buffer.from(JSON.stringify({ kind: 'script', source }));
    const call = { request, variables: EMPTY_OBJECT, pure: false };
    const { outcome, result } = this.call(call);
    const names = result.toString();
    if (outcome === 'denied' && names === gate) return;
    throw new Error(
      `The seal does not hold: expected ${gate} to be denied, but ${outcome} ${names}`,
    );
  }

  private expectAnswer(): void {
    const request = Buffer.from(
      JSON.stringify({ kind: 'expressions', sources: ['data.a + 1'], targets: [null] }),
    );
    const variables = Buffer.from('{"data":{"a":41}}');
    const { outcome, result } = this.call({ request, variables, pure: false });
    this.restoreIfChanged();
    if (outcome === 'answered' && result.toString() === '{}\n42') return;
    throw new Error(`The interpreter does not answer: ${outcome} ${result.toString()}`);
  }

  private runInterruptible(): { outcome: Outcome; note: string } | null {
    try {
      return this.interruptible.run() ? null : { outcome: 'timeout', note: '' };
    } catch (error) {
      return describeFailure(error);
    }
  }

  private restore(): void {
    this.pristineMemory.restore(this.python.memory.buffer);
    this.python._emscripten_stack_restore(this.pristineStack);
    this.python.setTempRet0(0);
    this.dirty = this.used = false;
    this.pureCalls = 0;
  }

  private callPython(): void {
    const { python, scratch } = this;
    const [request, variables] = this.arguments;
    if (request === undefined || variables === undefined) throw new NotText('no arguments');
    const parameters = [this.createText(request), this.createText(variables)];
    const view = new DataView(python.memory.buffer);
    parameters.forEach((pointer, index) => {
      view.setUint32(scratch + 4 + 4 * index, pointer, true);
    });
    const result = python.PyObject_Vectorcall(this.runFunction, scratch + 4, parameters.length, 0);
    if (result === 0) {
      python.PyErr_Clear();
      throw new NotText('the runner raised an exception');
    }
    this.answer = this.copyText(result);
    python.Py_DecRef(result);
    parameters.forEach((pointer) => {
      python.Py_DecRef(pointer);
    });
  }

  /** Copies a Python text out, believing neither its place nor its length. */
  private copyText(object: Pointer): Buffer {
    const text = this.python.PyUnicode_AsUTF8AndSize(object, this.scratch) >>> 0;
    const { buffer } = this.python.memory;
    const bytes = new DataView(buffer).getUint32(this.scratch, true);
    if (text === 0 || text + bytes > buffer.byteLength) throw new NotText('the result is not text');
    if (bytes > this.resultLimitBytes + ANSWER_OVERHEAD_BYTES)
      throw new ResultTooLarge(`${bytes} bytes`);
    return Buffer.from(new Uint8Array(buffer, text, bytes));
  }

  private createText(utf8: Uint8Array): Pointer {
    const bytes = this.copyIn(utf8);
    const text = this.python.PyUnicode_FromStringAndSize(bytes, utf8.length);
    this.python.free(bytes);
    if (text === 0) {
      this.python.PyErr_Clear();
      throw new NotText('the input does not fit into the memory or is not UTF-8');
    }
    return text;
  }

  /** A copy with a NUL behind it, as C wants it. */
  private copyIn(bytes: Uint8Array): Pointer {
    const pointer = this.python.malloc(bytes.length + 1) >>> 0;
    if (pointer === 0) throw new NotText('the input does not fit into the memory');
    const memory = this.memory();
    memory.set(bytes, pointer);
    memory[pointer + bytes.length] = 0;
    return pointer;
  }

  /** A global of runner.py. */
  private lookUp(name: string): Pointer {
    const { python } = this;
    const module = python.PyImport_AddModule(this.copyIn(this.encoder.encode(MODULE_NAME)));
    const key = this.copyIn(this.encoder.encode(name));
    const value = python.PyDict_GetItemString(python.PyModule_GetDict(module), key);
    if (value === 0) throw new Error(`runner.py has no ${name}`);
    return value;
  }

  private configure(options: SealOptions): void {
    const settings = JSON.stringify({
      environment: options.environment,
      resultLimit: options.resultLimitBytes,
      memoryLimit: options.memoryLimitBytes,
      recursionMax: options.recursionMax,
    });
    const text = this.createText(this.encoder.encode(settings));
    if (this.python.PyObject_CallOneArg(this.lookUp('configure'), text) === 0) {
      throw new Error('runner.py refused its settings');
    }
  }

  /** The guest could have written any number here. */
  private readProgress(): number {
    const memory = this.memory();
    return (memory[this.progressCell] ?? 0) | ((memory[this.progressCell + 1] ?? 0) << 8);
  }

  private memory(): Uint8Array {
    return new Uint8Array(this.python.memory.buffer);
  }
}

/** V8 unwinds everything, as it does at a time-out; other errors of range come from what the guest made of its memory. */
function isStackOverflow(error: unknown): boolean {
  return error instanceof RangeError && error.message.includes('call stack');
}

function describeFailure(error: unknown): { outcome: Outcome; note: string } {
  if (error instanceof DeniedCall) return { outcome: 'denied', note: error.message };
  if (error instanceof ResultTooLarge) return { outcome: 'too-large', note: error.message };
  if (isStackOverflow(error)) return { outcome: 'overflow', note: '' };
  if (!(error instanceof Error)) return { outcome: 'broken', note: 'trap' };
  return { outcome: 'broken', note: `${error.name}: ${error.message}`.slice(0, 200) };
}
