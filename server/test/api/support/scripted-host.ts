/**
 * A host for tests of what the API does with a call: it answers what the test wrote down and keeps what it was asked.
 * What the real host does is tested with the real host.
 */
import type { InstanceView, WorkflowHost } from '../../../src/runtime/host.js';

export interface HostCall {
  readonly method: string;
  readonly args: readonly unknown[];
}

export type HostAnswers = Partial<WorkflowHost>;

export interface ScriptedHost {
  readonly host: WorkflowHost;
  readonly calls: HostCall[];
}

/** A call that the test did not write down fails the request with 500, and so the test. */
export function scriptedHost(answers: HostAnswers): ScriptedHost {
  const calls: HostCall[] = [];
  const host = new Proxy({} as WorkflowHost, {
    get(_target, method: string) {
      return (...args: unknown[]) => {
        calls.push({ method, args });
        const answer = answers[method as keyof WorkflowHost] as
          ((...given: unknown[]) => unknown) | undefined;
        if (answer === undefined) throw new Error(`The test expects no call of ${method}`);
        return answer(...args);
      };
    },
  });
  return { host, calls };
}

export const SOME_INSTANCE: InstanceView = {
  id: 'w1',
  definitionId: 'greeting',
  version: 3,
  reference: null,
  status: 'Runnable',
  outcome: null,
  startTime: Date.UTC(2026, 4, 4, 10, 20, 30, 123),
  endTime: null,
  lastChangeTime: Date.UTC(2026, 4, 4, 10, 20, 30, 124),
  failureTime: null,
  data: { name: 'Ada' },
  lastError: null,
  parent: null,
};
