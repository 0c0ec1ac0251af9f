/**
 * The steps that wait or fail in the repair matrix, one for each step type and way to stop.
 *
 * All of them succeed once `data.fixed` is true, except those that wait for a person or another program.
 */
import type { JsonObject } from '../../../../src/engine/values/json.js';

const IS_FIXED = 'data.get("fixed", False)';

export interface Blocker {
  readonly stepType: string;
  readonly inputs?: JsonObject;
  /** Ids of the steps in its `Do`, of which each writes its id. */
  readonly inner?: string;
  /** The item that the inner step sees. */
  readonly innerItem?: string;
  /** Who ends the wait: a worker, an event, the event of its child, the called service, or only a person. */
  readonly waits?: 'worker' | 'event' | 'child' | 'service' | 'timer';
  /** Where it fails until the data is fixed. `always`: wherever. `worker`: a worker reports the failure. */
  readonly fails?: 'before' | 'outputs' | 'worker' | 'always';
  /** The inner steps run before it blocks. */
  readonly innerFirst?: true;
  /** The inner steps run only while it is not fixed. */
  readonly innerSkipped?: true;
  /** Whether a repetition repeats a call to the outside. */
  readonly hasOutsideEffect?: true;
}

const unless = (fine: string): string => `${fine} if ${IS_FIXED} else data.missing`;
const period = `0 if ${IS_FIXED} else 3600`;
/** Differs for each item of a Foreach. */
const KEY = 'data.key + str(context.Item)';

export const BLOCKERS = {
  activity: {
    stepType: 'Activity',
    inputs: { ActivityName: KEY },
    waits: 'worker',
    hasOutsideEffect: true,
  },
  waitFor: {
    stepType: 'WaitFor',
    inputs: { EventName: '"release"', EventKey: KEY },
    waits: 'event',
  },
  delay: { stepType: 'Delay', inputs: { Period: period }, waits: 'timer' },
  schedule: {
    stepType: 'Schedule',
    inputs: { Interval: period },
    inner: 'in',
    waits: 'timer',
  },
  recur: {
    stepType: 'Recur',
    inputs: { Interval: 3600, StopCondition: IS_FIXED, Background: false },
    inner: 'in',
    innerFirst: true,
    innerSkipped: true,
    waits: 'timer',
  },
  subWorkflow: {
    stepType: 'SubWorkflow',
    inputs: { DefinitionId: '"waiting-child"', Data: { '@key': KEY } },
    waits: 'child',
    hasOutsideEffect: true,
  },
  httpRequest: {
    stepType: 'HttpRequest',
    inputs: { BaseUrl: 'data.url', Resource: `"/ok" if ${IS_FIXED} else "/hold/" + ${KEY}` },
    waits: 'service',
    hasOutsideEffect: true,
  },
  failingNoOp: { stepType: 'NoOp', fails: 'outputs' },
  failingDecide: { stepType: 'Decide', inputs: { Expression: unless('1') }, fails: 'before' },
  failingLog: { stepType: 'EmitLog', inputs: { Message: unless('"fine"') }, fails: 'before' },
  failingIf: {
    stepType: 'If',
    inputs: { Condition: unless('True') },
    inner: 'in',
    fails: 'before',
  },
  failingWhile: {
    stepType: 'While',
    inputs: { Condition: unless('False') },
    inner: 'in',
    innerSkipped: true,
    fails: 'before',
  },
  failingForeach: {
    stepType: 'Foreach',
    inputs: { Collection: unless('["i"]') },
    inner: 'in',
    innerItem: 'i',
    fails: 'before',
  },
  failingParallel: { stepType: 'Parallel', inner: 'in', innerFirst: true, fails: 'outputs' },
  failingHttp: {
    stepType: 'HttpRequest',
    inputs: {
      BaseUrl: 'data.url',
      Resource: `"/ok" if ${IS_FIXED} else "/down"`,
      SucceedOn: ['2xx'],
    },
    fails: 'before',
    hasOutsideEffect: true,
  },
  failingScript: {
    stepType: 'repair-matrix-script',
    inputs: { is_fixed: IS_FIXED },
    fails: 'before',
    hasOutsideEffect: true,
  },
  failingSubWorkflow: {
    stepType: 'SubWorkflow',
    inputs: { DefinitionId: '"failing-child"', Data: { '@fixed': IS_FIXED } },
    fails: 'before',
    hasOutsideEffect: true,
  },
  failingActivity: {
    stepType: 'Activity',
    inputs: { ActivityName: KEY },
    waits: 'worker',
    fails: 'worker',
    hasOutsideEffect: true,
  },
  failingWaitFor: {
    stepType: 'WaitFor',
    inputs: { EventName: '"release"', EventKey: KEY },
    waits: 'event',
    fails: 'outputs',
  },
  fail: { stepType: 'Fail', inputs: { Message: '"no"' }, fails: 'always' },
} as const satisfies Readonly<Record<string, Blocker>>;

export type BlockerName = keyof typeof BLOCKERS;
export const BLOCKER_NAMES = Object.keys(BLOCKERS) as readonly BlockerName[];

export function blockerOf(name: BlockerName): Blocker {
  return BLOCKERS[name];
}
