/** Runs the body of a step: the one of its type, or that of custom steps, whose scripts are found by name. */
import { traitsOf } from '../engine/definitions/step-types.js';
import type { EffectResult } from '../engine/flow/messages.js';
import type { StepDefinition } from '../engine/model/definition.js';
import type { JsonObject } from '../engine/values/json.js';
import type { CustomStepBody } from './custom-step.js';
import type { StepBody, StepBodyContext } from './step-body.js';

/** What calls need to know of secrets: see runtime/secrets/secrets.ts. */
export interface CallSecrets {
  /** The inputs with the values of their secrets; the same object if there are none. @throws MissingSecretError */
  fill(inputs: JsonObject, execution: string): Promise<JsonObject>;
  /** The inputs as people see them. */
  conceal(inputs: JsonObject): JsonObject;
  /** Takes the values of secrets out of results. */
  readonly masker: { result(result: EffectResult): EffectResult; text(text: string): string };
}

export class StepBodies {
  readonly #httpRequest: StepBody;
  readonly #customStep: CustomStepBody;
  readonly #secrets: CallSecrets;
  #underWay = 0;

  constructor(httpRequest: StepBody, customStep: CustomStepBody, secrets: CallSecrets) {
    this.#httpRequest = httpRequest;
    this.#secrets = secrets;
    this.#customStep = customStep;
  }

  /** Number of running bodies: HTTP calls and scripts. */
  get underWay(): number {
    return this.#underWay;
  }

  async run(
    step: Pick<StepDefinition, 'type' | 'typeName'>,
    inputs: JsonObject,
    context: StepBodyContext,
  ): Promise<EffectResult> {
    this.#underWay += 1;
    try {
      const { masker } = this.#secrets;
      const filled = await this.#secrets.fill(inputs, context.idempotencyKey);
      const masked = {
        ...context,
        mask: (text: string) => masker.text(text),
        ...(filled !== inputs && { shownInputs: this.#secrets.conceal(inputs) }),
      };
      const result = await (traitsOf(step).body === 'http'
        ? this.#httpRequest.run(filled, masked)
        : this.#customStep.run(step.typeName, filled, masked));
      return masker.result(result);
    } catch (error) {
      if (!(error instanceof Error) || error.name !== 'MissingSecretError') throw error;
      return {
        ok: false,
        failure: { type: 'SecretError', message: error.message, traceback: null },
      };
    } finally {
      this.#underWay -= 1;
    }
  }
}
