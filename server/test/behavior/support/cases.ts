/** Tables of workflows: their steps, their initial data and their results. */
import { expect, it } from 'vitest';
import type { Workflow } from '../../../src/api/wire/models/workflow.js';
import type { JsonObject } from '../../../src/engine/values/json.js';
import type { Surroundings } from './every-store.js';
import type { Steps } from './steps.js';

export interface Case {
  readonly does: string;
  readonly steps: Steps | JsonObject;
  readonly data?: JsonObject;
  /** All of the data at the end. */
  readonly gives?: JsonObject;
  /** The steps that ran, as `id Status`, in order. */
  readonly trace?: readonly string[];
  readonly status?: Workflow['status'];
}

/** Runs each case to its end. They run in parallel, because many of them wait for timers. */
export function itRuns(at: Surroundings, cases: readonly Case[]): void {
  // eslint-disable-next-line test-titles/sentence -- Each case has a sentence.
  it.concurrent.for(cases)('$does', async ({ data = {}, gives, status, steps, trace }) => {
    const id = await at.client.defineAndStart(steps, data);
    const ended = await at.client.ended(id);
    expect(ended.status).toBe(status ?? 'Complete');
    if (gives !== undefined) expect(ended.data).toEqual(gives);
    if (trace !== undefined) expect(await at.client.trace(id)).toEqual(trace);
  });
}

/** The message of the failure that suspends the one step of each case. */
export interface FailingCase {
  readonly does: string;
  readonly step: JsonObject;
  readonly data?: JsonObject;
  readonly type?: string;
  readonly message: RegExp;
}

/** Runs each step, which must fail with that message and suspends its run. */
export function itFails(at: Surroundings, cases: readonly FailingCase[]): void {
  it.concurrent.for(cases)('fails with $does', async ({ data = {}, message, step, type }) => {
    const { client } = at;
    const id = await client.defineAndStart(
      { DefaultErrorBehavior: 'Suspend', Steps: [step] },
      data,
    );
    const suspended = await client.untilWorkflow(id, ({ status }) => status !== 'Runnable');
    expect(suspended).toMatchObject({ status: 'Suspended', data });
    expect(suspended.lastError).toMatchObject({ stepId: step['Id'], attempt: 1 });
    expect(suspended.lastError!.message).toMatch(message);
    if (type !== undefined) expect(suspended.lastError!.type).toBe(type);
  });
}
