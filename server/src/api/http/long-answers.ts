/**
 * The bytes of long responses, written once for all requests with the same value, and only when there is memory for them.
 *
 * Values are compared by identity: callers that wait for the same run get the same value. Until the bytes exist, each caller
 * waits for its own memory, so a caller that has used up its share doesn't delay the others.
 */
import { AppError } from '../../base/errors.js';
import type { Caller } from '../../base/limits/current-caller.js';
import type { HeldMemory } from '../../base/limits/held-memory.js';
import { CanceledError } from '../../base/slices.js';

export interface LongAnswer {
  readonly contentType: string;
  /** Null if not compressed. */
  readonly encoding: 'gzip' | null;
  readonly bytes: Buffer;
}

export interface AnswerWriter {
  /** Distinguishes responses made from the same value. */
  readonly form: string;
  /** The memory needed for writing, in bytes, including the value if it hasn't been counted yet. */
  readonly cost: () => Promise<number>;
  /** False if the call has had an effect that the caller must know about. */
  readonly mayRefuse: boolean;
  /** @throws CanceledError */
  readonly write: (isWanted: () => boolean) => Promise<LongAnswer>;
}

/** One request's share of a response. */
export interface AnswerUse {
  /** @throws AppError `too_many_requests`, `overloaded`; CanceledError if all requests have left */
  readonly answer: Promise<LongAnswer>;
  /** The request is over. */
  readonly leave: () => void;
}

interface Written {
  readonly answer: LongAnswer;
  readonly memory: HeldMemory;
}

/** A response that one caller's requests are waiting for. */
interface Writing {
  readonly written: Promise<Written>;
  readonly gone: AbortController;
  readers: number;
}

/** The responses made from one value in one form. */
class Form {
  #written: Written | null = null;
  #readers = 0;
  /** By caller. */
  readonly #writings = new Map<string, Writing>();

  use(writer: AnswerWriter, caller: Caller): AnswerUse {
    this.#readers += 1;
    const writing = this.#written === null ? this.#writingOf(writer, caller) : null;
    if (writing !== null) writing.readers += 1;
    return {
      answer: this.#answerFor(caller, writing),
      leave: () => {
        this.#readers -= 1;
        if (this.#readers === 0) this.#written = null;
        if (writing === null) return;
        writing.readers -= 1;
        if (writing.readers === 0) writing.gone.abort();
      },
    };
  }

  async #answerFor(caller: Caller, writing: Writing | null): Promise<LongAnswer> {
    const { answer, memory } = (await writing?.written) ?? this.#written ?? notWanted();
    caller.memory.share(memory);
    return answer;
  }

  #writingOf(writer: AnswerWriter, caller: Caller): Writing {
    const known = this.#writings.get(caller.key);
    if (known !== undefined && !known.gone.signal.aborted) return known;
    const gone = new AbortController();
    const memory = caller.memory.shareable(gone.signal);
    const written = this.#write(writer, { caller, gone: gone.signal, memory });
    const writing = { written, gone, readers: 0 };
    this.#writings.set(caller.key, writing);
    const ended = (): void => {
      if (this.#writings.get(caller.key) === writing) this.#writings.delete(caller.key);
    };
    written.then(ended, ended);
    return writing;
  }

  async #write(
    writer: AnswerWriter,
    { caller, gone, memory }: { caller: Caller; gone: AbortSignal; memory: HeldMemory },
  ): Promise<Written> {
    // The data read for the request was counted together with its response.
    const held = caller.memory.bytes;
    const release = memory.hold();
    try {
      const lacking = (await writer.cost()) - held;
      if (lacking > 0 && held > 0) memory.add('texts', lacking);
      else if (lacking > 0) await reserve(memory, lacking, writer.mayRefuse);
      // Another caller may have got memory first.
      if (this.#written !== null) return this.#written;
      const answer = await writer.write(() => !gone.aborted);
      caller.memory.shrinkTo(Math.max(0, answer.bytes.length - memory.bytes));
      memory.shrinkTo(answer.bytes.length);
      if (this.#readers > 0) this.#written ??= { answer, memory };
      return { answer, memory };
    } finally {
      // The waiting requests take over the response's memory within this tick.
      setImmediate(release);
    }
  }
}

async function reserve(memory: HeldMemory, bytes: number, mayRefuse: boolean): Promise<void> {
  try {
    await memory.reserve('texts', bytes);
  } catch (error) {
    if (mayRefuse || !(error instanceof AppError)) throw error;
    memory.add('texts', bytes);
  }
}

function notWanted(): never {
  throw new CanceledError();
}

export class LongAnswers {
  readonly #forms = new WeakMap<object, Map<string, Form>>();

  use(value: object, writer: AnswerWriter, caller: Caller): AnswerUse {
    const forms = this.#forms.get(value) ?? new Map<string, Form>();
    this.#forms.set(value, forms);
    const form = forms.get(writer.form) ?? new Form();
    forms.set(writer.form, form);
    return form.use(writer, caller);
  }
}
