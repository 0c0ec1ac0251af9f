/** Which conditions of definitions were true and which were false, as the engine had them evaluated. */
import { toBoolean } from '../engine/values/convert-input.js';
import { isJsonObject, type Json, type JsonObject } from '../engine/values/json.js';
import type {
  EvaluationRequest,
  EvaluationResult,
  EvaluationVariables,
} from '../scripts/script-runtime.js';

/** How often. */
export interface SeenValues {
  readonly true: number;
  readonly false: number;
}

const NEVER: SeenValues = { true: 0, false: 0 };

export class SeenConditions {
  readonly #seen = new Map<string, SeenValues>();

  /** Outputs are no conditions. Other expressions are noted without knowing which of them decide something. */
  note(
    expressions: readonly EvaluationRequest[],
    { context }: EvaluationVariables,
    result: EvaluationResult,
  ): void {
    const place = result.ok ? placeOf(context) : null;
    if (!result.ok || place === null) return;
    for (const [index, expression] of expressions.entries()) {
      if (!('source' in expression) || expression.assignTo !== undefined) continue;
      const isTrue = toBoolean(result.values[index] ?? null);
      if (!isTrue.ok) continue;
      const key = keyOf(...place, expression.source);
      const known = this.#seen.get(key) ?? NEVER;
      this.#seen.set(key, {
        true: known.true + (isTrue.value ? 1 : 0),
        false: known.false + (isTrue.value ? 0 : 1),
      });
    }
  }

  /** @param source the expression, as it is in the definition */
  of(definitionId: string, stepId: string, source: string): SeenValues {
    return this.#seen.get(keyOf(definitionId, stepId, source)) ?? NEVER;
  }
}

function keyOf(...parts: readonly string[]): string {
  return JSON.stringify(parts);
}

/** The definition and the step; null for expressions of triggers. */
function placeOf(context: JsonObject): readonly [string, string] | null {
  const definitionId = memberOf(context['Workflow'], 'DefinitionId');
  const stepId = memberOf(context['Step'], 'Id');
  return definitionId === null || stepId === null ? null : [definitionId, stepId];
}

function memberOf(value: Json | undefined, name: string): string | null {
  const member = value !== undefined && isJsonObject(value) ? value[name] : null;
  return typeof member === 'string' ? member : null;
}
