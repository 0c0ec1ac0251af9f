/**
 * The schemas of start data (`Input` of definitions): checks posted ones, and validates data at every start.
 *
 *  VD1 All validation happens on other threads, so no schema and no data can block the event loop.
 *  VD2 A slow schema delays others for a short time only: after that, it is validated on a second thread, where other slow ones
 *      wait.
 *  VD3 Definitions without a schema cost nothing: no thread, no await.
 */
import { LRUCache } from 'lru-cache';
import { writeJson } from '../engine/values/exact-json.js';
import { isJsonObject, type JsonObject } from '../engine/values/json.js';
import { isLight, writeJsonParts } from '../engine/values/json-parts.js';
import { readJsonParts } from '../engine/values/read-json-parts.js';
import type {
  DocumentProblem,
  InputSchema,
  WorkflowDefinition,
} from '../engine/model/definition.js';
import { AppError } from '../base/errors.js';
import { inSlices } from '../base/slices.js';
import { ValidationThread } from './validation-thread.js';
import type { ValidationAnswer } from './validation/protocol.js';

export interface ValidationLimits {
  /** Maximum time to validate the data of one start. */
  readonly validationMsMax: number;
  /** After this time, a schema counts as slow. */
  readonly quickMsMax: number;
}

const LIMITS: ValidationLimits = { validationMsMax: 1000, quickMsMax: 100 };

/** Maximum time to check a posted schema, including its compilation. */
const CHECKING_MS_MAX = 2000;
/** Data that is longer (in characters) is not expected to be validated quickly. */
const QUICK_LENGTH_MAX = 256 * 1024;
/** Schemas that are remembered as slow. */
const SLOW_MAX = 100;
/** Waiting for slow schemas; more are rejected. */
const SLOW_WAITING_MAX = 100;

/** Problems in the message; the list has all. */
const SHOWN_MAX = 5;

export class InputSchemas {
  readonly #quick = new ValidationThread();
  readonly #slow = new ValidationThread();
  readonly #slowSchemas = new LRUCache<string, true>({ max: SLOW_MAX });
  readonly #texts = new WeakMap<JsonObject, string>();
  readonly #limits: ValidationLimits;
  #isStopped = false;

  /** Tests on busy machines take longer. */
  constructor(limits: ValidationLimits = LIMITS) {
    this.#limits = limits;
  }

  /** What is wrong with a posted schema; the pointers start at the schema. */
  async check(schema: InputSchema): Promise<readonly DocumentProblem[]> {
    const answer = await this.#slow.ask({
      kind: 'check',
      schema: this.#textOf(schema),
      limitMs: CHECKING_MS_MAX,
    });
    if (answer.kind === 'done') return answer.problems;
    if (this.#isStopped) throw new AppError('stopping', 'The server is stopping');
    const why =
      answer.kind === 'failed' ? answer.reason : 'checking it takes too long; make it simpler';
    return [{ code: 'invalid_schema', pointer: '', message: `The schema cannot be used: ${why}.` }];
  }

  /**
   * The data with the defaults of the schema; the same object if nothing was filled in.
   *
   * @throws AppError `invalid_data` with all violations; `overloaded`
   */
  async admit(definition: WorkflowDefinition, data: JsonObject): Promise<JsonObject> {
    const { id, input } = definition;
    if (input === null || input === true) return data;
    const schema = this.#textOf(input);
    const text = isLight(data) ? writeJson(data) : await inSlices(writeJsonParts(data));
    const answer = await this.#validate(schema, text);
    if (answer.kind === 'done') {
      if (answer.problems.length > 0) throw invalidData(id, answer.problems);
      return answer.data === null ? data : await readObject(answer.data);
    }
    if (this.#isStopped) throw new AppError('stopping', 'The server is stopping');
    const why =
      answer.kind === 'failed'
        ? answer.reason
        : `it takes longer than ${this.#limits.validationMsMax} ms, or too much memory`;
    throw new AppError(
      'invalid_data',
      `The data cannot be checked against the Input of definition '${id}': ${why}`,
      { fields: { definitionId: id } },
    );
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all([this.#quick.stop(), this.#slow.stop()]);
  }

  async #validate(schema: string, data: string): Promise<ValidationAnswer> {
    const request = { kind: 'validate', schema, data } as const;
    const isQuick = (): boolean => !this.#slowSchemas.has(schema);
    if (data.length <= QUICK_LENGTH_MAX && isQuick()) {
      const answer = await this.#quick.ask(
        { ...request, limitMs: this.#limits.quickMsMax },
        isQuick,
      );
      if (answer.kind !== 'out-of-time') return answer;
      this.#slowSchemas.set(schema, true);
    }
    if (this.#slow.load > SLOW_WAITING_MAX) {
      throw new AppError('overloaded', 'Too many starts wait until their data is checked', {
        retryAfterSeconds: 1,
      });
    }
    return this.#slow.ask({ ...request, limitMs: this.#limits.validationMsMax });
  }

  #textOf(schema: InputSchema): string {
    if (!isJsonObject(schema)) return String(schema);
    let text = this.#texts.get(schema);
    if (text === undefined) {
      text = writeJson(schema);
      this.#texts.set(schema, text);
    }
    return text;
  }
}

async function readObject(text: string): Promise<JsonObject> {
  const value = await inSlices(readJsonParts(text));
  if (!isJsonObject(value)) throw new AppError('internal', 'Checked data is not an object');
  return value;
}

function invalidData(definitionId: string, problems: readonly DocumentProblem[]): AppError {
  const shown = problems
    .slice(0, SHOWN_MAX)
    .map(({ message, pointer }) => (pointer === '' ? message : `${pointer}: ${message}`));
  const more = problems.length > SHOWN_MAX ? ` ${problems.length - SHOWN_MAX} more.` : '';
  return new AppError(
    'invalid_data',
    `The data does not fit the Input of definition '${definitionId}'. ${shown.join(' ')}${more}`,
    { problems, fields: { definitionId } },
  );
}
