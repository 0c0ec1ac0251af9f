/** A script as users write them, with the variables that it leaves. */
import type { JsonObject } from '../../../../src/engine/values/json.js';

export interface OrdinaryScript {
  readonly name: string;
  readonly source: string;
  readonly leaves: JsonObject;
}

/** The variables that every script starts with; those that it does not change are not repeated in `leaves`. */
export const INPUTS: JsonObject = {
  data: { a: [1, 2], l: [{ a: 1 }], o: { k: 'v' } },
  conf: { items: [1], keys: 2, z: { get: 1 } },
};
