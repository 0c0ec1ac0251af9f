/** Removes secret values from the results of calls. */
import type { Failure } from '../../engine/failure/fail-step.js';
import type { EffectResult } from '../../engine/flow/messages.js';
import type { Json, JsonObject } from '../../engine/values/json.js';
import type { ScriptError, ScriptResult } from '../../scripts/script-runtime.js';
import { learnSecrets, type SecretSource } from '../../secrets/secret-source.js';

/** Python cuts messages at this length; see scripts/pyodide/runner.py. */
const MESSAGE_LENGTH_MIN_CUT = 2000;
/** The last character of an output may also be cut. */
const CHARACTER_BYTES_MAX = 4;

export class SecretMasker {
  readonly #source: SecretSource;

  constructor(source: SecretSource) {
    this.#source = source;
  }

  text(text: string): string {
    return this.#source.mask.text(text);
  }

  /** A report of a worker or an operator: another node may have read the values. */
  reported<Value extends Json>(value: Value): Value {
    learnSecrets(this.#source);
    return this.#source.mask.value(value);
  }

  result(result: EffectResult): EffectResult {
    const { mask } = this.#source;
    if (result.ok) return { ok: true, values: mask.value(result.values) };
    return { ok: false, failure: this.#failure(result.failure) };
  }

  /** @param inputs with the values of secrets that the script got */
  script(result: ScriptResult, inputs: JsonObject, outputBytesMax: number): ScriptResult {
    const { mask } = this.#source;
    const isCut = Buffer.byteLength(result.output) >= outputBytesMax - CHARACTER_BYTES_MAX;
    const output = mask.text(isCut ? this.#withoutEnd(result.output, inputs) : result.output);
    if (result.ok) return { ...result, variables: mask.value(result.variables), output };
    return { ok: false, error: this.#scriptError(result.error, inputs), output };
  }

  #scriptError(error: ScriptError, inputs: JsonObject): ScriptError {
    const { mask } = this.#source;
    const isCut = error.message.length >= MESSAGE_LENGTH_MIN_CUT;
    const masked = (text: string): string =>
      mask.text(isCut ? this.#withoutEnd(text, inputs) : text);
    const { message, traceback, type } = error;
    return {
      ...error,
      type: mask.text(type),
      message: masked(message),
      // The traceback ends with the message.
      ...(traceback !== undefined && { traceback: masked(traceback) }),
    };
  }

  /** The beginning of a secret at the end of a cut text isn't recognized, and must not be guessable by trial (SK2). */
  #withoutEnd(text: string, inputs: JsonObject): string {
    const length = this.#source.mask.longestIn(inputs);
    return length === 0 ? text : `${text.slice(0, Math.max(0, text.length - length))}…`;
  }

  #failure(failure: Failure): Failure {
    const { mask } = this.#source;
    const { data, message, traceback, type } = failure;
    return {
      ...failure,
      type: mask.text(type),
      message: mask.text(message),
      ...(typeof traceback === 'string' && { traceback: mask.text(traceback) }),
      ...(data !== undefined && { data: mask.value(data) }),
    };
  }
}
