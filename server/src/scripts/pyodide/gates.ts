/**
 * Gates: the wall between Python and the host.
 *
 * Every host function that the WebAssembly module imports is replaced by a gate *before* the module is instantiated.
 * While Pyodide boots, gates let everything through. `seal()` closes them permanently: from then on, a call reaches one
 * of the few functions in `guest-calls.ts`, or nothing. WebAssembly cannot call anything that it does not import, so
 * this also holds for ctypes, for function pointers and for a corrupted heap.
 *
 *  G1 After `seal()`, no JavaScript of Emscripten or Pyodide runs on behalf of the guest.
 *  G2 An import without a gate prevents the start (`assertComplete`).
 *  G3 Looking for files finds none; any other call is denied, and the interpreter is not used again.
 *  G4 Denied calls are counted, and only the first names are kept, so that a loop of them costs the host nothing.
 */
import type {
  HostFunction,
  ImportTable,
  WasmImportDescriptor,
  WasmImports,
  WasmModule,
} from './pyodide-module.js';

declare const WebAssembly: {
  readonly Module: { imports(module: WasmModule): readonly WasmImportDescriptor[] };
};

/** Thrown through the guest when it calls a closed function; ends the call. */
export class DeniedCall extends Error {
  override readonly name = 'DeniedCall';
}

/** Emscripten uses WASI's error numbers. */
const WASI_EACCES = 2;
const WASI_ENOENT = 44;

/**
 * These calls behave as if there were no files, and do not count as violations: Python itself looks for the source of a
 * script when it words some errors.
 */
const ABSENT_FILES = new Set([
  '__syscall_faccessat',
  '__syscall_getcwd',
  '__syscall_lstat64',
  '__syscall_newfstatat',
  '__syscall_openat',
  '__syscall_readlinkat',
  '__syscall_stat64',
]);
const MAX_NAMES = 3;

/**
 * Two imports that are not host functions: Pyodide links a small WebAssembly module of its own in front of them, which
 * compares a reference with a sentinel.
 */
const PYODIDE_SENTINELS = new Set(['Jsv_GetError_import', 'JsvError_Check']);

export class Gates {
  #sealed = false;
  readonly #gates = new Set<unknown>();
  readonly #names = new Set<string>();
  #count = 0;

  /** The functions that stay reachable after `seal()`. */
  readonly #guestCalls: ReadonlyMap<string, HostFunction>;

  constructor(guestCalls: ReadonlyMap<string, HostFunction>) {
    this.#guestCalls = guestCalls;
  }

  /** Replaces every function in the import tables. */
  install(imports: WasmImports): void {
    for (const table of new Set(Object.values(imports))) {
      for (const [name, value] of Object.entries(table)) {
        if (typeof value !== 'function' || this.#gates.has(value)) continue;
        // Imports are functions of numbers; never[] leaves their count open.
        table[name] = this.#createGate(name, value as HostFunction);
      }
    }
  }

  /** @throws Error if the module imports a function that is not a gate (G2) */
  assertComplete(imports: WasmImports, module: WasmModule): void {
    for (const { kind, module: namespace, name } of WebAssembly.Module.imports(module)) {
      if (kind !== 'function' || PYODIDE_SENTINELS.has(name)) continue;
      const table: ImportTable | undefined = imports[namespace];
      if (!this.#gates.has(table?.[name])) throw new Error(`The import ${name} has no gate`);
    }
  }

  seal(): void {
    this.#sealed = true;
    this.forgetDenied();
  }

  get deniedCalls(): number {
    return this.#count;
  }

  /** The first few names that were denied during the current call. */
  get deniedNames(): readonly string[] {
    return [...this.#names];
  }

  forgetDenied(): void {
    this.#count = 0;
    this.#names.clear();
  }

  #createGate(name: string, open: HostFunction): HostFunction {
    const closed = this.#guestCalls.get(name) ?? this.#createRefusal(name);
    const gate = (...parameters: never[]): unknown =>
      this.#sealed ? closed(...parameters) : open(...parameters);
    this.#gates.add(gate);
    // Emscripten keeps signatures as properties of its functions.
    return Object.assign(gate, open);
  }

  #createRefusal(name: string): HostFunction {
    if (ABSENT_FILES.has(name)) return () => -WASI_ENOENT;
    if (name.startsWith('__syscall_')) return () => (this.note(name), -WASI_EACCES);
    if (name.startsWith('fd_')) return () => (this.note(name), WASI_EACCES);
    return () => {
      this.note(name);
      throw new DeniedCall(name);
    };
  }

  /** Counts a denied call. */
  note(name: string): void {
    this.#count += 1;
    if (this.#names.size < MAX_NAMES) this.#names.add(name);
  }
}
