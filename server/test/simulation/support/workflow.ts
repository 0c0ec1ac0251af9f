/** The parts of the workflows of simulations. */
import type { InstanceOutcome } from '../../../src/engine/model/instance.js';
import type { JsonObject } from '../../../src/engine/values/json.js';
import type { Random } from './random.js';

export interface Workflow {
  readonly document: JsonObject;
  /** The version before it. */
  readonly olderDocument?: JsonObject;
  /** The initial data; `s` and `key` are added. */
  readonly data: (random: Random) => JsonObject;
  /** How often each step ends in which way, and the resulting data. Omitted values are not compared. */
  readonly expect: (start: JsonObject) => {
    readonly completed: Counts;
    readonly failed?: Counts;
    readonly canceled?: Counts;
    readonly data: JsonObject;
    /** @default Succeeded */
    readonly outcome?: InstanceOutcome;
  };
}

type Counts = Readonly<Record<string, number>>;

export function step(Id: string, StepType: string, rest: JsonObject = {}): JsonObject {
  return { Id, StepType, RetryInterval: 1, ...rest };
}

export function call(Id: string, rest: JsonObject = {}): JsonObject {
  return step(Id, 'HttpRequest', { Inputs: { BaseUrl: '"http://target"' }, ...rest });
}

export function number(data: JsonObject, name: string): number {
  return Number(data[name]);
}

export const EVENT_INPUTS: JsonObject = {
  EventName: '"news"',
  EventKey: 'data.key',
  EffectiveDate: '"2000-01-01T00:00:00Z"',
};
