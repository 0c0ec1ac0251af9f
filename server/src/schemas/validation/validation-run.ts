/**
 * One validation: the violations found so far, and the resources that were entered on the way to the present schema.
 *
 *  VR1 At most 100 violations are kept, the others only counted: hostile data has no list that grows.
 *  VR2 In alternatives and conditions, nothing is recorded: their failure is one violation of the keyword around them.
 */
import type { SchemaResource } from '../../engine/definitions/schema-references.js';
import type { Json } from '../../engine/values/json.js';
import type { Place } from './place.js';

/** Entries of the list of violations, with the note that there are more. */
export const VIOLATIONS_MAX = 100;

/** What is special about a violation, for its description. */
export interface ViolationDetails {
  /** The member that is missing or not allowed: the violation is at its place. */
  readonly member?: string;
  /** Why a member is required. */
  readonly because?: string;
  /** What could have been meant. */
  readonly names?: readonly string[];
  readonly isTooMany?: boolean;
}

export interface Violation {
  readonly keyword: string;
  /** The value of the keyword. */
  readonly expected: Json;
  readonly value: Json;
  readonly place: Place;
  readonly details: ViolationDetails;
}

export class ValidationRun {
  #quiet = 0;
  readonly #resources: SchemaResource[] = [];
  readonly violations: Violation[] = [];
  count = 0;

  /** Whether only the verdict counts, so that the first violation is enough. */
  get isQuiet(): boolean {
    return this.#quiet > 0;
  }

  /** Always false: the verdict. */
  violate(violation: Omit<Violation, 'details'>, details: ViolationDetails = {}): false {
    if (this.isQuiet) return false;
    this.count += 1;
    if (this.violations.length < VIOLATIONS_MAX) this.violations.push({ ...violation, details });
    return false;
  }

  /** What follows is quiet, until `endQuiet`. A validation that throws is over, so nothing needs to be put right then. */
  beginQuiet(): void {
    this.#quiet += 1;
  }

  endQuiet(): void {
    this.#quiet -= 1;
  }

  /** Whether the resource must be left. */
  enter(resource: SchemaResource): boolean {
    if (this.#resources.at(-1) === resource) return false;
    this.#resources.push(resource);
    return true;
  }

  leave(): void {
    this.#resources.pop();
  }

  /** The outermost resource on the way that has such an anchor decides. */
  dynamicTarget(anchor: string): Json {
    for (const { dynamicAnchors } of this.#resources) {
      const found = dynamicAnchors.get(anchor);
      if (found !== undefined) return found;
    }
    return null;
  }
}
