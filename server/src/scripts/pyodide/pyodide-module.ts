/**
 * The parts of Pyodide and of its WebAssembly module that we use, with types.
 *
 * Pyodide marks `createPyodideModule` as experimental and does not document the snapshot options. So package.json pins
 * the exact version, and an upgrade must pass the whole test folder.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Numbers as WebAssembly passes them; 64-bit integers are bigints. */
export type HostFunction = (...parameters: never[]) => unknown;

/** A single object serves all namespaces and Emscripten's own symbol lookup (dlsym, the global offset table). */
export type ImportTable = Record<string, unknown>;

export type WasmImports = Record<string, ImportTable>;

/** TypeScript declares WebAssembly only together with browser APIs, so the few parts that we use are declared here. */
export interface WasmMemory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}

export interface WasmTable {
  readonly length: number;
  get(index: number): unknown;
}

export interface WasmInstance {
  readonly exports: unknown;
}

export interface WasmImportDescriptor {
  readonly module: string;
  readonly name: string;
  readonly kind: string;
}

export type WasmModule = object;

/** A pointer into linear memory. WebAssembly returns it as a signed number: apply `>>> 0` before using it. */
export type Pointer = number;

/** CPython's C interface and the C library, called on the raw exports. */
export interface PythonExports {
  readonly memory: WasmMemory;
  readonly __indirect_function_table: WasmTable;
  malloc(bytes: number): Pointer;
  free(pointer: Pointer): void;
  /** Tables of references to host objects: temporary ones, and permanent ones. */
  readonly _hiwire_get: (index: number) => unknown;
  readonly _hiwire_immortal_get: (index: number) => unknown;
  emscripten_stack_get_base(): Pointer;
  emscripten_stack_get_end(): Pointer;
  emscripten_stack_get_current(): Pointer;
  _emscripten_stack_restore(stack: Pointer): void;
  /** The upper half of 64-bit results, stored outside linear memory. */
  setTempRet0(value: number): void;
  PyImport_AddModule(name: Pointer): Pointer;
  PyModule_GetDict(module: Pointer): Pointer;
  PyDict_GetItemString(dict: Pointer, key: Pointer): Pointer;
  PyObject_CallOneArg(callable: Pointer, argument: Pointer): Pointer;
  PyObject_Vectorcall(callable: Pointer, args: Pointer, count: number, names: Pointer): Pointer;
  PyUnicode_FromStringAndSize(text: Pointer, bytes: number): Pointer;
  PyUnicode_AsUTF8AndSize(text: Pointer, size: Pointer): Pointer;
  PyByteArray_AsString(bytes: Pointer): Pointer;
  PyErr_Clear(): void;
  Py_DecRef(object: Pointer): void;
}

export interface EmscriptenSettings {
  instantiateWasm: (
    imports: WasmImports,
    done: (instance: WasmInstance, module: WasmModule) => void,
  ) => unknown;
}

export interface PyodideInterface {
  runPython(code: string): unknown;
  makeMemorySnapshot(): Uint8Array;
}

export interface LoadOptions {
  readonly indexURL: string;
  readonly env: Readonly<Record<string, string>>;
  readonly jsglobals: object;
  readonly stdin: () => null;
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
  readonly createPyodideModule: (settings: EmscriptenSettings) => Promise<unknown>;
  readonly _makeSnapshot?: boolean;
  readonly _loadSnapshot?: Uint8Array;
}

export interface PyodideModule {
  readonly loadPyodide: (options: LoadOptions) => Promise<PyodideInterface>;
  readonly createPyodideModule: (settings: EmscriptenSettings) => Promise<unknown>;
}

export async function importPyodide(folder: string): Promise<PyodideModule> {
  const load = async (file: string): Promise<Record<string, unknown>> =>
    // A module is an object, whatever it exports.
    (await import(pathToFileURL(join(folder, file)).href)) as Record<string, unknown>;
  const loader = await load('pyodide.mjs');
  const emscripten = await load('pyodide.asm.mjs');
  // The version is pinned, and every test that starts an interpreter checks its shape.
  return {
    loadPyodide: loader['loadPyodide'] as PyodideModule['loadPyodide'],
    createPyodideModule: emscripten['default'] as PyodideModule['createPyodideModule'],
  };
}

/** Pyodide's version, which is part of the file name of a snapshot. */
export function readPyodideVersion(folder: string): string {
  const manifest: unknown = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const version =
    typeof manifest === 'object' && manifest !== null && 'version' in manifest
      ? manifest.version
      : undefined;
  if (typeof version !== 'string') throw new Error(`No version in ${folder}/package.json`);
  return version;
}
