/** Runs the body of a step: the one of its type, or that of custom steps, whose scripts are found by name. */
import { traitsOf } from '../engine/definitions/step-types.js';
import type { EffectResult } from '../engine/flow/messages.js';
import type { StepDefinition } from '../engine/model/definition.js';
import type { JsonObject } from '../engine/values/json.js';
import type { CustomStepBody } from './custom-step.js';
import type { StepBody, StepBodyContext } from './step-body.js';

export class StepBodies {
  readonly #httpRequest: StepBody;
  readonly #customStep: CustomStepBody;
  #underWay = 0;

  constructor(httpRequest: StepBody, customStep: CustomStepBody) {
    this.#httpRequest = httpRequest;
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
      return await (traitsOf(step).body === 'http'
        ? this.#httpRequest.run(inputs, context)
        : this.#customStep.run(step.typeName, inputs, context));
    } finally {
      this.#underWay -= 1;
    }
  }
}
