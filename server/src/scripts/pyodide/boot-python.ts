/**
 * Boots a Pyodide interpreter with a gate in front of every function that it imports, and loads runner.py into it.
 *
 * Owns: Pyodide's options and workarounds. Its result is not sealed yet; sealed-interpreter.ts does that.
 */
import { Gates } from './gates.js';
import { createGuestCalls, GuestMoment, PrintedText } from './guest-calls.js';
import { PlacedSnapshot, type MemorySource } from './pristine-memory.js';
import {
  importPyodide,
  type EmscriptenSettings,
  type PyodideInterface,
  type PythonExports,
} from './pyodide-module.js';
import type { SnapshotFile } from './snapshot-file.js';

export interface PythonOptions {
  readonly pyodideFolder: string;
  readonly runner: string;
  /** The memory of an interpreter that has already run `runner`. */
  readonly snapshot: SnapshotFile | null;
  readonly memoryLimitBytes: number;
  readonly resultLimitBytes: number;
  readonly outputLimitBytes: number;
  readonly recursionMax: number;
  readonly environment: Readonly<Record<string, string>>;
}

declare const WebAssembly: {
  instantiate: (code: ArrayBuffer | Uint8Array, imports: object) => Promise<unknown>;
};

/** Node shares the memory of small modules. */
const SMALL_MODULE_BYTES = 1 << 20;
/** The module name of runner.py in Python. */
export const RUNNER_MODULE = '_stepwright';

export interface BootedPython {
  readonly exports: PythonExports;
  readonly gates: Gates;
  readonly printed: PrintedText;
  readonly moment: GuestMoment;
  /** The memory from which it has booted. */
  readonly snapshot: MemorySource | null;
}

interface BootedModule extends BootedPython {
  readonly python: PyodideInterface;
}

/** The memory of an interpreter that is ready to be configured and sealed. */
export async function makeSnapshot(options: PythonOptions): Promise<Uint8Array> {
  const { python } = await bootModule({ ...options, snapshot: null }, { _makeSnapshot: true });
  loadRunner(python, options.runner);
  return python.makeMemorySnapshot();
}

export async function bootPython(options: PythonOptions): Promise<BootedPython> {
  const { python, ...booted } = await bootModule(options, {});
  if (booted.snapshot === null) loadRunner(python, options.runner);
  python.runPython(`import ${RUNNER_MODULE}; ${RUNNER_MODULE}.finish()`);
  return booted;
}

async function bootModule(
  options: PythonOptions,
  snapshotOption: { _makeSnapshot?: true },
): Promise<BootedModule> {
  removeStackSwitching();
  releaseCodeOnceCompiled();
  const { loadPyodide, createPyodideModule } = await importPyodide(options.pyodideFolder);
  let exports: PythonExports | null = null;
  const printed = new PrintedText(options.outputLimitBytes);
  const moment = new GuestMoment();
  const gates = new Gates(
    createGuestCalls({
      exports: () => requireExports(exports),
      memoryLimitBytes: options.memoryLimitBytes,
      output: printed,
      moment,
      onDenied: (name) => gates.note(name),
    }),
  );
  const installGates = (settings: EmscriptenSettings): Promise<unknown> => {
    const instantiate = settings.instantiateWasm;
    settings.instantiateWasm = (imports, done) => {
      gates.install(imports);
      return instantiate(imports, (instance, module) => {
        gates.assertComplete(imports, module);
        // Pyodide's module exports CPython's interface; if a function is missing, the self-test fails.
        exports = instance.exports as PythonExports;
        done(instance, module);
      });
    };
    return createPyodideModule(settings);
  };
  const { snapshot: file } = options;
  const image =
    file === null ? null : placed(file.readWhole(), () => requireExports(exports).memory.buffer);
  const python = await loadPyodide({
    indexURL: options.pyodideFolder,
    env: { HOME: '/', TZ: 'UTC' },
    // With an ordinary prototype, Python could reach objects of the host while Pyodide boots.
    jsglobals: Object.create(null) as object,
    stdin: () => null,
    stdout: () => undefined,
    stderr: () => undefined,
    createPyodideModule: installGates,
    ...snapshotOption,
    ...(image !== null && { _loadSnapshot: image }),
  });
  const snapshot = file === null || image === null ? null : file.memoryAt(image.memoryOffset());
  if (image !== null) releaseMemory(image.buffer);
  return { python, exports: requireExports(exports), gates, printed, moment, snapshot };
}

/**
 * If available, Pyodide uses WebAssembly's stack switching to wait for promises. A sealed interpreter never waits, and
 * an import that suspends is not a function that a gate could replace.
 */
function removeStackSwitching(): void {
  for (const name of ['Suspending', 'promising']) Reflect.deleteProperty(WebAssembly, name);
}

function requireExports(exports: PythonExports | null): PythonExports {
  if (exports === null) throw new Error('Pyodide did not instantiate its module');
  return exports;
}

/** Runs runner.py as a separate module, so that `__main__` stays free for scripts. */
function loadRunner(python: PyodideInterface, runner: string): void {
  python.runPython(
    [
      'import sys, types',
      `module = sys.modules["${RUNNER_MODULE}"] = types.ModuleType("${RUNNER_MODULE}")`,
      // JSON text is also a Python literal.
      `exec(compile(${JSON.stringify(runner)}, "<runner>", "exec"), module.__dict__)`,
      'del module, sys, types',
    ].join('\n'),
  );
}

function placed(snapshot: Uint8Array<ArrayBuffer>, target: () => ArrayBuffer): PlacedSnapshot {
  const { buffer, byteOffset, length } = snapshot;
  const image = new PlacedSnapshot(buffer, byteOffset, length);
  image.target = target;
  return image;
}

/** Pyodide keeps its module file (9 MB) in memory, although V8 has its own copy. */
function releaseCodeOnceCompiled(): void {
  const { instantiate } = WebAssembly;
  WebAssembly.instantiate = async (code, imports) => {
    const instantiated = await instantiate(code, imports);
    const bytes = ArrayBuffer.isView(code) ? code.buffer : code;
    if (bytes.byteLength > SMALL_MODULE_BYTES) releaseMemory(bytes);
    return instantiated;
  };
}

/** Frees a buffer that other code references but never reads again, by transferring it elsewhere. */
function releaseMemory(buffer: ArrayBufferLike): void {
  if (buffer instanceof ArrayBuffer) structuredClone(buffer, { transfer: [buffer] });
}
