/**
 * Evaluates inputs that use `secrets`. Python never gets secret values: it sees `***NAME***`, and in a second evaluation drafts
 * of marks, which show where whole values belong. See runtime/secrets/secret-marks.ts.
 */
import type { InputPlan } from '../../engine/model/expression-plan.js';
import type { Json } from '../../engine/values/json.js';
import type {
  CallOptions,
  EvaluationResult,
  EvaluationVariables,
  ScriptRuntime,
} from '../../scripts/script-runtime.js';
import { MissingSecretError, preferMarks } from '../secrets/secret-marks.js';
import type { Secrets } from '../secrets/secrets.js';

export interface SecretEvaluation {
  readonly plan: InputPlan;
  readonly variables: EvaluationVariables;
  readonly options: CallOptions;
  /** The step execution. */
  readonly execution: string;
}

export class SecretInputs {
  readonly #scripts: ScriptRuntime;
  readonly #secrets: Pick<Secrets, 'variables'>;

  constructor(scripts: ScriptRuntime, secrets: Pick<Secrets, 'variables'>) {
    this.#scripts = scripts;
    this.#secrets = secrets;
  }

  /** The values of the plan's sources. @throws StoreUnavailableError */
  async evaluate(evaluation: SecretEvaluation): Promise<EvaluationResult> {
    const { execution, options, plan, variables } = evaluation;
    const secrets = await this.#secrets.variables(plan.secretNames, execution);
    const expressions = plan.sources.map((source) => ({ source }));
    const seen = { ...variables, secrets: secrets.shown };
    const shown = await this.#scripts.evaluate(expressions, seen, options);
    if (!shown.ok) return explained(shown, secrets.missing);
    const marked = await this.#marked(evaluation, { ...variables, secrets: secrets.marked });
    const values = shown.values.map((value, index) =>
      preferMarks(marked[index] ?? null, value, secrets.sealed),
    );
    return { ok: true, values };
  }

  /**
   * An expression that fails with marks does more than join texts: it keeps its value for `***NAME***`, and its value here is
   * null.
   */
  async #marked(
    { options, plan }: SecretEvaluation,
    variables: EvaluationVariables,
  ): Promise<readonly Json[]> {
    const expressions = plan.sources.map((source) => ({ source }));
    const all = await this.#scripts.evaluate(expressions, variables, options);
    if (all.ok) return all.values;
    const values: Json[] = [];
    for (const expression of expressions) {
      const one = await this.#scripts.evaluate([expression], variables, options);
      values.push(one.ok ? (one.values[0] ?? null) : null);
    }
    return values;
  }
}

/** Explains a failure caused by a missing secret, which Python reports as an unknown field. */
function explained(
  failed: Extract<EvaluationResult, { readonly ok: false }>,
  missing: readonly string[],
): EvaluationResult {
  const name = missing.find((each) => failed.error.message.includes(each));
  if (name === undefined) return failed;
  const { message } = new MissingSecretError(name);
  return { ...failed, error: { ...failed.error, type: 'SecretError', message } };
}
