/**
 * One Pyodide interpreter, cut off from JavaScript: text goes in, text comes out, nothing else.
 *
 * Owns: sealing, calling and restoring one interpreter. Must not know: how Python boots, processes, expressions.
 *
 *  SI1 Once sealed, the guest reaches only `guest-calls.ts` (see gates.ts). The host talks to Python through CPython's C
 *      interface on the raw WebAssembly exports; there are no proxies and no callbacks.
 *  SI2 All state of Python is in linear memory. Its content is recorded when the interpreter is sealed, and restored so that
 *      code that is not proven pure starts on a pristine interpreter and leaves nothing behind. State that WebAssembly keeps
 *      elsewhere is restored too, or compared (pristine-references.ts); an interpreter that differs is not used again.
 *  SI3 Every call can be interrupted from outside. V8 stops WebAssembly anywhere, even inside a single regex or power.
 *  SI4 Purity is an input of the caller, who decided it without asking this interpreter.
 */
import { RUNNER_MODULE, type BootedPython, type PythonOptions } from './boot-python.js';
import type { CallMoment, Outcome } from './frames.js';
import { DeniedCall, type Gates } from './gates.js';
import type { GuestMoment, PrintedText } from './guest-calls.js';
import { InterruptibleSection } from './interruptible-section.js';
import { PristineMemory } from './pristine-memory.js';
import { PristineReferences } from './pristine-references.js';
import type { Pointer, PythonExports } from './pyodide-module.js';
import { AnswerTooLarge, RunnerCalls } from './runner-calls.js';

export interface CallRequest {
  readonly request: Buffer;
  readonly variables: Buffer;
  readonly pure: boolean;
  readonly moment?: CallMoment;
}

export interface CallOutcome {
  readonly outcome: Outcome;
  readonly result: Buffer;
  readonly output: Buffer;
  readonly progress: number;
  readonly deniedCalls: number;
}

const NOTHING = Buffer.alloc(0);
const NO_EXPRESSIONS = Buffer.from('{"kind":"expressions","sources":[],"targets":[]}');
const EMPTY_OBJECT = Buffer.from('{}');
/** Pure calls leave freed memory behind, so the interpreter is restored after this many. */
const PURE_CALLS_BETWEEN_RESTORES = 1000;

export class SealedInterpreter {
  readonly #python: PythonExports;
  readonly #gates: Gates;
  readonly #printed: PrintedText;
  readonly #moment: GuestMoment;
  readonly #runner: RunnerCalls;
  readonly #pristineMemory: PristineMemory;
  readonly #pristineStack: Pointer;
  readonly #pristineReferences: PristineReferences;
  readonly #interruptible: InterruptibleSection;

  /** Of the current call: an interruptible section takes no arguments and returns nothing. */
  #request: Buffer = NO_EXPRESSIONS;
  #variables: Buffer = EMPTY_OBJECT;
  #answer: Buffer = NOTHING;
  /** A call has run that may have changed the interpreter. */
  #dirty = false;
  /** A call has run since the last restore; memory that it freed may still be readable. */
  #used = false;
  #pureCalls = 0;

  constructor(booted: BootedPython, options: PythonOptions) {
    this.#python = booted.exports;
    this.#gates = booted.gates;
    this.#printed = booted.printed;
    this.#moment = booted.moment;
    this.#runner = new RunnerCalls(booted.exports, options);
    this.#interruptible = new InterruptibleSection(`__${RUNNER_MODULE}_call`, () => {
      this.#answer = this.#runner.run(this.#request, this.#variables);
    });
    // Anything that Python creates during its first call becomes part of the pristine state.
    this.#runner.run(this.#request, this.#variables);
    this.#gates.seal();
    this.#printed.take();
    this.#pristineMemory = new PristineMemory(this.#python.memory.buffer, booted.snapshot);
    this.#pristineStack = this.#python.emscripten_stack_get_current();
    this.#pristineReferences = new PristineReferences(this.#python);
  }

  get heapBytes(): number {
    return this.#python.memory.buffer.byteLength;
  }

  call({ request, variables, pure, moment }: CallRequest): CallOutcome {
    this.prepareFor(pure);
    this.#request = request;
    this.#variables = variables;
    this.#answer = NOTHING;
    this.#moment.set(moment ?? null);
    this.#gates.forgetDenied();
    this.#dirty = this.#used = true;
    const failure = this.#runInterruptible();
    const deniedCalls = this.#gates.deniedCalls;
    const change = pure ? null : this.#pristineReferences.findChange();
    const broken = change === null ? failure : { outcome: 'broken' as const, note: change };
    const outcome = deniedCalls > 0 ? 'denied' : (broken?.outcome ?? 'answered');
    if (pure && outcome === 'answered' && ++this.#pureCalls < PURE_CALLS_BETWEEN_RESTORES) {
      this.#dirty = false;
    }
    const note = outcome === 'denied' ? this.#gates.deniedNames.join(', ') : (broken?.note ?? '');
    return {
      outcome,
      result: outcome === 'answered' ? this.#answer : Buffer.from(note),
      output: this.#printed.take(),
      progress: this.#runner.readProgress(),
      deniedCalls,
    };
  }

  /**
   * Ensures that the next call finds a pristine interpreter, or, if it is pure itself, one that only pure calls have
   * used.
   */
  prepareFor(pure: boolean): void {
    if (this.#dirty || (this.#used && !pure)) this.#restore();
  }

  /** Restores the state in which the interpreter was sealed, if the last call may have changed it. */
  restoreIfChanged(): void {
    if (this.#dirty) this.#restore();
  }

  #runInterruptible(): { outcome: Outcome; note: string } | null {
    try {
      return this.#interruptible.run() ? null : { outcome: 'timeout', note: '' };
    } catch (error) {
      return describeFailure(error);
    }
  }

  #restore(): void {
    this.#pristineMemory.restore(this.#python.memory.buffer);
    this.#python._emscripten_stack_restore(this.#pristineStack);
    this.#python.setTempRet0(0);
    this.#dirty = this.#used = false;
    this.#pureCalls = 0;
  }
}

/**
 * V8 unwinds the whole stack, as it does at a timeout; other RangeErrors come from what the guest did to its memory.
 */
function isStackOverflow(error: unknown): boolean {
  return error instanceof RangeError && error.message.includes('call stack');
}

function describeFailure(error: unknown): { outcome: Outcome; note: string } {
  if (error instanceof DeniedCall) return { outcome: 'denied', note: error.message };
  if (error instanceof AnswerTooLarge) return { outcome: 'too-large', note: error.message };
  if (isStackOverflow(error)) return { outcome: 'overflow', note: '' };
  if (!(error instanceof Error)) return { outcome: 'broken', note: 'trap' };
  return { outcome: 'broken', note: `${error.name}: ${error.message}`.slice(0, 200) };
}
