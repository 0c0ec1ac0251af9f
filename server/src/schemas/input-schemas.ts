/**
 * The schemas of start data (`Input` of definitions): checks posted ones, and validates data at every start.
 *
 *  VD1 All validation happens on other threads, so no schema and no data can block the event loop.
 *  VD2 Definitions without a schema cost nothing: no thread, no await.
 */
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
import { ValidationPool, type ValidationLimits } from './validation-pool.js';

/** Problems in the message; the list has all. */
const SHOWN_MAX = 5;

export class InputSchemas {
  readonly #lanes: ValidationPool;
  readonly #texts = new WeakMap<JsonObject, string>();
  #isStopped = false;

  /** Tests on busy machines take longer. */
  constructor(limits: Partial<ValidationLimits> = {}) {
    this.#lanes = new ValidationPool(limits);
  }

  /** What is wrong with a posted schema; the pointers start at the schema. */
  async check(schema: InputSchema): Promise<readonly DocumentProblem[]> {
    const answer = await this.#lanes.check(this.#textOf(schema));
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
    const answer = await this.#lanes.validate(schema, text);
    if (answer.kind === 'done') {
      if (answer.problems.length > 0) throw invalidData(id, answer.problems);
      return answer.data === null ? data : await readObject(answer.data);
    }
    if (this.#isStopped) throw new AppError('stopping', 'The server is stopping');
    const why = answer.kind === 'failed' ? answer.reason : this.#tooLong(answer.during);
    throw new AppError(
      'invalid_data',
      `The data cannot be checked against the Input of definition '${id}': ${why}`,
      { fields: { definitionId: id } },
    );
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#lanes.stop();
  }

  #tooLong(during: 'compilation' | 'validation'): string {
    const { compilationMs, validationMs } = this.#lanes.limits.slow;
    return during === 'compilation'
      ? `compiling the Input takes longer than ${compilationMs} ms`
      : `it takes longer than ${validationMs} ms, or too much memory`;
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
