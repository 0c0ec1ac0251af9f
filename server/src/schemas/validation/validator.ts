/** One compiled schema: the checks of its keywords, in a fixed order. */
import type { SchemaResource } from '../../engine/definitions/schema-references.js';
import type { Json } from '../../engine/values/json.js';
import { Evaluated } from './evaluated.js';
import type { Place } from './place.js';
import type { ValidationRun } from './validation-run.js';

/** The verdict about a value; violations are told to the run, what was evaluated to `evaluated` (null: nobody asks). */
export type Check = (
  value: Json,
  place: Place,
  run: ValidationRun,
  evaluated: Evaluated | null,
) => boolean;

export interface Validator {
  /** Whether it is the schema `false`, which reads better as a violation of the keyword around it. */
  readonly isNever: boolean;
  readonly validate: Check;
}

export const EVERYTHING: Validator = { isNever: false, validate: () => true };
export const NOTHING: Validator = {
  isNever: true,
  validate: (value, place, run) =>
    run.violate({ keyword: 'false schema', expected: false, value, place }),
};

export class SchemaValidator implements Validator {
  readonly #checks: Check[] = [];
  readonly #asksEvaluated: boolean;
  readonly #resource: SchemaResource;
  readonly isNever = false;

  /** @param asksEvaluated whether one of the checks must know what the others have evaluated */
  constructor(resource: SchemaResource, asksEvaluated: boolean) {
    this.#resource = resource;
    this.#asksEvaluated = asksEvaluated;
  }

  /** Added after the construction, because schemas refer to each other in circles. */
  addChecks(checks: readonly Check[]): void {
    this.#checks.push(...checks);
  }

  validate(value: Json, place: Place, run: ValidationRun, evaluated: Evaluated | null): boolean {
    const isEntered = run.enter(this.#resource);
    // Schemas beside this one do not see what it evaluates, and it does not see theirs.
    const own = this.#asksEvaluated ? new Evaluated() : evaluated;
    const isValid = this.#checkAll(value, place, run, own);
    if (own !== null && own !== evaluated) evaluated?.add(own);
    if (isEntered) run.leave();
    return isValid;
  }

  #checkAll(value: Json, place: Place, run: ValidationRun, evaluated: Evaluated | null): boolean {
    let isValid = true;
    for (const check of this.#checks) {
      if (check(value, place, run, evaluated)) continue;
      if (run.isQuiet) return false;
      isValid = false;
    }
    return isValid;
  }
}
