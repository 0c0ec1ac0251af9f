/** Takes the values of secrets out of what comes back from calls. */
import type { Failure } from '../../engine/failure/fail-step.js';
import type { EffectResult } from '../../engine/flow/messages.js';
import type { Json } from '../../engine/values/json.js';
import type { ScriptResult } from '../../scripts/script-runtime.js';
import { learnSecrets, type SecretSource } from '../../secrets/secret-source.js';

export class SecretMasker {
  readonly #source: SecretSource;

  constructor(source: SecretSource) {
    this.#source = source;
  }

  text(text: string): string {
    return this.#source.mask.text(text);
  }

  /** What a worker or an operator reports: the values may have been read by another node. */
  reported<Value extends Json>(value: Value): Value {
    learnSecrets(this.#source);
    return this.#source.mask.value(value);
  }

  result(result: EffectResult): EffectResult {
    const { mask } = this.#source;
    if (result.ok) return { ok: true, values: mask.value(result.values) };
    return { ok: false, failure: this.#failure(result.failure) };
  }

  script(result: ScriptResult): ScriptResult {
    const { mask } = this.#source;
    const output = mask.text(result.output);
    if (result.ok) return { ...result, variables: mask.value(result.variables), output };
    const { message, traceback, type } = result.error;
    const error = { ...result.error, type: mask.text(type), message: mask.text(message) };
    return {
      ok: false,
      error: traceback === undefined ? error : { ...error, traceback: mask.text(traceback) },
      output,
    };
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
