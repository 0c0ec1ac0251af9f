/**
 * The bytes of long answers: written once for all requests that are answered with the same value, and only when there is
 * memory for them.
 *
 * Values are compared by identity: callers that wait for the same run are given the same value. Until the bytes are there,
 * each caller waits for memory of its own, so that one who has used up its share does not delay the others.
 */
import { AppError } from '../../base/errors.js';
import type { Caller } from '../../base/limits/current-caller.js';
import type { HeldMemory } from '../../base/limits/held-memory.js';
import { NotWantedError } from '../../base/slices.js';

export interface LongAnswer {
  readonly contentType: string;
  /** Null: not compressed. */
  readonly encoding: 'gzip' | null;
  readonly bytes: Buffer;
}

export interface AnswerWriter {
  /** What distinguishes the answers that are made of the same value. */
  readonly form: string;
  /** The memory that writing takes, in bytes, including the value if nobody has counted it yet. */
  readonly cost: () => Promise<number>;
  /** False: the call has had an effect that the caller must learn of. */
  readonly mayRefuse: boolean;
  /** @throws NotWantedError */
  readonly write: (isWanted: () => boolean) => Promise<LongAnswer>;
}

/** One request's part in an answer. */
export interface AnswerUse {
  /** @throws AppError `too_many_requests`, `overloaded`; NotWantedError if all requests have left */
  readonly answer: Promise<LongAnswer>;
  /** The request is over. */
  readonly leave: () => void;
}

interface Written {
  readonly answer: LongAnswer;
  readonly memory: HeldMemory;
}

/** The answer as one caller's requests wait for it. */
interface Writing {
  readonly written: Promise<Written>;
  readonly gone: AbortController;
  readers: number;
}

/** The answers that are made of one value in one form. */
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
    // What was read for the request has been counted together with its answer.
    const held = caller.memory.bytes;
    const release = memory.hold();
    try {
      const lacking = (await writer.cost()) - held;
      if (lacking > 0 && held > 0) memory.add('texts', lacking);
      else if (lacking > 0) await reserve(memory, lacking, writer.mayRefuse);
      // Another caller may have had memory earlier.
      if (this.#written !== null) return this.#written;
      const answer = await writer.write(() => !gone.aborted);
      caller.memory.shrinkTo(Math.max(0, answer.bytes.length - memory.bytes));
      memory.shrinkTo(answer.bytes.length);
      if (this.#readers > 0) this.#written ??= { answer, memory };
      return { answer, memory };
    } finally {
      // Those who wait for the answer hold its memory before this turn is over.
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
  throw new NotWantedError();
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
