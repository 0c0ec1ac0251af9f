/** Where a value is in the data. A pointer is written only for places that violate the schema. */
import { childPointer } from '../../engine/definitions/json-pointer.js';

export class Place {
  readonly #key: string | number;
  readonly #parent: Place | null;
  /** Whether the value is the name of a member, not the member. */
  readonly isName: boolean;

  constructor(parent: Place | null, key: string | number, isName = false) {
    this.#parent = parent;
    this.#key = key;
    this.isName = isName;
  }

  pointer(): string {
    return this.#parent === null ? '' : childPointer(this.#parent.pointer(), this.#key);
  }
}
