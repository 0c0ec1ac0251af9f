/** A typical user script, with its final variables. */
import type { JsonObject } from '../../../../src/engine/values/json.js';

export interface OrdinaryScript {
  readonly name: string;
  readonly source: string;
  readonly leaves: JsonObject;
}

/** The initial variables of every script; `leaves` does not repeat those that it does not change. */
export const INPUTS: JsonObject = {
  data: { a: [1, 2], l: [{ a: 1 }], o: { k: 'v' } },
  conf: { items: [1], keys: 2, z: { get: 1 } },
};
