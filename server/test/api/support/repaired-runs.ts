/** Calls that start, read and repair runs on a real server. */
import { expect } from 'vitest';
import type { Answer, RealServer } from './real-server.js';

export interface Run {
  readonly workflowId: string;
  readonly status: string;
  readonly outcome: string | null;
  readonly version: number;
  readonly endTime: string | null;
  readonly data: Record<string, unknown>;
}

interface Repaired {
  readonly workflow: Run;
  readonly cancelled: readonly { readonly executionId: number; readonly stepId: string }[];
  readonly started: readonly { readonly executionId: number; readonly stepId: string }[];
  readonly repeats: readonly { readonly stepId: string; readonly stepType: string }[];
  readonly warnings: readonly { readonly code: string; readonly message: string }[];
}

interface Problem {
  readonly code: string;
  readonly detail: string;
  readonly errors: readonly {
    readonly code: string;
    readonly message: string;
    readonly pointer?: string;
    readonly executionIds?: readonly number[];
  }[];
}

export interface Step {
  readonly executionId: number;
  readonly stepId: string;
  readonly status: string;
  readonly reason: string | null;
  readonly childWorkflowId: string | null;
}

export type RepairAnswer = Answer<Repaired & Problem>;

let last = 0;
export const fresh = (name: string): string => `${name}-${(last += 1)}`;

export const wait = (id: string, next?: string): object => ({
  id,
  stepType: 'WaitFor',
  inputs: { EventName: `"E-${id}"`, EventKey: 'data.key' },
  ...(next !== undefined && { nextStepId: next }),
});

export const set = (id: string, field: string, next?: string): object => ({
  id,
  stepType: 'NoOp',
  outputs: { [field]: 'data.get("n", 0) + 1' },
  ...(next !== undefined && { nextStepId: next }),
});

/** @param server the server, which starts after the tests are declared */
export function runsOn(server: () => RealServer) {
  const steps = async (id: string): Promise<readonly Step[]> =>
    (await server().call<{ items: Step[] }>(`GET /api/workflow/${id}/steps`)).body.items;
  return {
    steps,
    define: async (id: string, given: readonly object[], more: object = {}): Promise<void> => {
      const json = { id, steps: given, ...more };
      const answer = await server().call('POST /api/definition', { json });
      expect(answer.status, answer.text).toBe(201);
    },
    start: async (id: string, data: object = {}, query = ''): Promise<string> => {
      const answer = await server().call<Run>(`POST /api/workflow/${id}${query}`, { json: data });
      expect(answer.status, answer.text).toBe(201);
      return answer.body.workflowId;
    },
    read: async (id: string): Promise<Run> =>
      (await server().call<Run>(`GET /api/workflow/${id}`)).body,
    ended: async (id: string): Promise<Run> =>
      (await server().call<Run>(`GET /api/workflow/${id}?wait=20`)).body,
    modify: (id: string, json: object): Promise<RepairAnswer> =>
      server().call(`POST /api/workflow/${id}/modify`, { json }),
    rerun: (id: string, json: object): Promise<RepairAnswer> =>
      server().call(`POST /api/workflow/${id}/rerun`, { json }),
    suspend: (id: string) => server().call(`PUT /api/workflow/${id}/suspend`),
    terminate: (id: string) => server().call(`DELETE /api/workflow/${id}`),
    /** The waiting execution of the step, as soon as there is one. */
    waiting: async (id: string, stepId: string): Promise<Step> => {
      const find = async (): Promise<Step | undefined> =>
        (await steps(id)).find((step) => step.stepId === stepId && step.status === 'Waiting');
      await expect.poll(find).toBeDefined();
      const found = await find();
      if (found === undefined) throw new Error(`${stepId} does not wait any more`);
      return found;
    },
  };
}
