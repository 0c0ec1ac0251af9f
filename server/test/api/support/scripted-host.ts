/**
 * A host for tests of the API layer: it returns what the test defines and records its calls. The real host has its own
 * tests.
 */
import type { Host } from '../../../src/runtime/host.js';
import type { InstanceView } from '../../../src/runtime/model/instance-types.js';

export interface HostCall {
  /** `area.method`, or the name of a method of the host itself. */
  readonly method: string;
  readonly args: readonly unknown[];
}

type OwnMethod = 'info' | 'readiness' | 'metrics';
type Area = Exclude<keyof Host, OwnMethod | 'start' | 'stop' | 'memoryUsed'>;

/** The methods of an area, by `area.method`. */
type AreaAnswers<Name extends Area> = {
  readonly [Method in keyof Host[Name] & string as `${Name}.${Method}`]?: Host[Name][Method];
};

export type HostAnswers = AreaAnswers<'definitions'> &
  AreaAnswers<'customSteps'> &
  AreaAnswers<'instances'> &
  AreaAnswers<'events'> &
  AreaAnswers<'activities'> &
  AreaAnswers<'nodes'> &
  AreaAnswers<'workers'> &
  AreaAnswers<'overview'> &
  AreaAnswers<'changes'> &
  AreaAnswers<'keys'> &
  Partial<Pick<Host, OwnMethod>>;

export interface ScriptedHost {
  readonly host: Host;
  readonly calls: HostCall[];
}

const OWN_METHODS: ReadonlySet<string> = new Set<OwnMethod>(['info', 'readiness', 'metrics']);

/**
 * A call that the test does not define fails the request with 500, and so the test.
 * @param isSilent instead, such a call never ends
 */
export function scriptedHost(answers: HostAnswers, isSilent = false): ScriptedHost {
  const calls: HostCall[] = [];
  const answering =
    (method: string) =>
    (...args: unknown[]): unknown => {
      calls.push({ method, args });
      const answer = answers[method as keyof HostAnswers] as
        ((...given: unknown[]) => unknown) | undefined;
      if (answer === undefined && isSilent) return new Promise(() => undefined);
      if (answer === undefined) throw new Error(`unexpected call of ${method}`);
      return answer(...args);
    };
  // What is recorded has tests of its own.
  const audit = { record: async () => undefined };
  const areaOf = (area: string): object =>
    new Proxy({}, { get: (_target, method: string) => answering(`${area}.${method}`) });
  const host = new Proxy<object>(
    {},
    {
      get: (_target, name: string) => {
        if (name === 'audit' && !isSilent) return audit;
        return OWN_METHODS.has(name) ? answering(name) : areaOf(name);
      },
    },
  ) as Host;
  return { host, calls };
}

export const SOME_INSTANCE: InstanceView = {
  id: 'w1',
  definitionId: 'greeting',
  version: 3,
  reference: null,
  tags: { team: 'billing' },
  priority: 3,
  fairness: { key: 'tenant', weight: 2 },
  queued: false,
  index: { customer: 'C-17' },
  status: 'Runnable',
  outcome: null,
  startTime: Date.UTC(2026, 4, 4, 10, 20, 30, 123),
  endTime: null,
  lastChangeTime: Date.UTC(2026, 4, 4, 10, 20, 30, 124),
  failureTime: null,
  failingSince: null,
  restartOf: null,
  restartedAs: null,
  failure: null,
  debounce: null,
  data: { name: 'Ada' },
  lastError: null,
  parent: null,
  trigger: null,
};
