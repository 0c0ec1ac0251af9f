/**
 * Calls the functions of runner.py in an interpreter, through CPython's C interface on the raw WebAssembly exports.
 *
 * Texts are copied in and out. Nothing that the guest could have written is trusted: no pointer, no length, no number.
 */
import { RUNNER_MODULE, type PythonOptions } from './boot-python.js';
import { ANSWER_OVERHEAD_BYTES } from './frames.js';
import type { Pointer, PythonExports } from './pyodide-module.js';

export class AnswerTooLarge extends Error {}

/** The input or output is not text, or does not fit. */
class NotText extends Error {}

export class RunnerCalls {
  readonly #python: PythonExports;
  readonly #answerBytesMax: number;
  readonly #runFunction: Pointer;
  readonly #progressCell: Pointer;
  /** Space for the argument vector of a call and for the length of its result. */
  readonly #scratch: Pointer;
  readonly #encoder = new TextEncoder();

  constructor(python: PythonExports, options: PythonOptions) {
    this.#python = python;
    this.#answerBytesMax = options.resultLimitBytes + ANSWER_OVERHEAD_BYTES;
    this.#scratch = python.malloc(32) >>> 0;
    this.#runFunction = this.#lookUp('run');
    this.#progressCell = python.PyByteArray_AsString(this.#lookUp('progress')) >>> 0;
    this.#configure(options);
  }

  /**
   * @returns the response
   * @throws AnswerTooLarge, NotText, and any error of the module
   */
  run(request: Buffer, variables: Buffer): Buffer {
    const python = this.#python;
    const scratch = this.#scratch;
    const parameters = [this.#createText(request), this.#createText(variables)];
    const view = new DataView(python.memory.buffer);
    parameters.forEach((pointer, index) => {
      view.setUint32(scratch + 4 + 4 * index, pointer, true);
    });
    const result = python.PyObject_Vectorcall(this.#runFunction, scratch + 4, parameters.length, 0);
    if (result === 0) {
      python.PyErr_Clear();
      throw new NotText('the runner raised an exception');
    }
    const answer = this.#copyText(result);
    python.Py_DecRef(result);
    parameters.forEach((pointer) => {
      python.Py_DecRef(pointer);
    });
    return answer;
  }

  /** The item that is being processed, according to the guest, which could have written any number. */
  readProgress(): number {
    const memory = this.#memory();
    return (memory[this.#progressCell] ?? 0) | ((memory[this.#progressCell + 1] ?? 0) << 8);
  }

  /** Copies a Python string out, trusting neither its pointer nor its length. */
  #copyText(object: Pointer): Buffer {
    const text = this.#python.PyUnicode_AsUTF8AndSize(object, this.#scratch) >>> 0;
    const { buffer } = this.#python.memory;
    const bytes = new DataView(buffer).getUint32(this.#scratch, true);
    if (text === 0 || text + bytes > buffer.byteLength) throw new NotText('the result is not text');
    if (bytes > this.#answerBytesMax) throw new AnswerTooLarge(`${bytes} bytes`);
    return Buffer.from(new Uint8Array(buffer, text, bytes));
  }

  #createText(utf8: Uint8Array): Pointer {
    const bytes = this.#copyIn(utf8);
    const text = this.#python.PyUnicode_FromStringAndSize(bytes, utf8.length);
    this.#python.free(bytes);
    if (text === 0) {
      this.#python.PyErr_Clear();
      throw new NotText('the input does not fit into the memory or is not UTF-8');
    }
    return text;
  }

  /** Copies the bytes in, with a terminating NUL for C. */
  #copyIn(bytes: Uint8Array): Pointer {
    const pointer = this.#python.malloc(bytes.length + 1) >>> 0;
    if (pointer === 0) throw new NotText('the input does not fit into the memory');
    const memory = this.#memory();
    memory.set(bytes, pointer);
    memory[pointer + bytes.length] = 0;
    return pointer;
  }

  /** A global of runner.py. */
  #lookUp(name: string): Pointer {
    const python = this.#python;
    const module = python.PyImport_AddModule(this.#copyIn(this.#encoder.encode(RUNNER_MODULE)));
    const key = this.#copyIn(this.#encoder.encode(name));
    const value = python.PyDict_GetItemString(python.PyModule_GetDict(module), key);
    if (value === 0) throw new Error(`runner.py has no ${name}`);
    return value;
  }

  #configure(options: PythonOptions): void {
    const settings = JSON.stringify({
      environment: options.environment,
      resultLimit: options.resultLimitBytes,
      memoryLimit: options.memoryLimitBytes,
      recursionMax: options.recursionMax,
    });
    const text = this.#createText(this.#encoder.encode(settings));
    if (this.#python.PyObject_CallOneArg(this.#lookUp('configure'), text) === 0) {
      throw new Error('runner.py rejected its settings');
    }
  }

  #memory(): Uint8Array {
    return new Uint8Array(this.#python.memory.buffer);
  }
}
