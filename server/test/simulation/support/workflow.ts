/** What the workflows of simulations are made of. */
import type { JsonObject } from '../../../src/engine/json.js';
import type { Random } from './random.js';

export interface Workflow {
  readonly document: JsonObject;
  /** The data to start with; `s` and `key` are added. */
  readonly data: (random: Random) => JsonObject;
  /** How often each step completes, and what is in the data then. Fields that are left out are not compared. */
  readonly expect: (start: JsonObject) => {
    readonly completed: Readonly<Record<string, number>>;
    readonly data: JsonObject;
  };
}

export function step(Id: string, StepType: string, rest: JsonObject = {}): JsonObject {
  return { Id, StepType, RetryInterval: 1, ...rest };
}

export function call(Id: string, rest: JsonObject = {}): JsonObject {
  return step(Id, 'HttpRequest', { Inputs: { BaseUrl: '"http://ledger"' }, ...rest });
}

export function number(data: JsonObject, name: string): number {
  return Number(data[name]);
}

export const EVENT_INPUTS: JsonObject = {
  EventName: '"news"',
  EventKey: 'data.key',
  EffectiveDate: '"2000-01-01T00:00:00Z"',
};
