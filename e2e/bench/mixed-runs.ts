/** Short runs of several kinds, with the clients and workers that complete them, for measurements of whole fleets. */
import { setTimeout } from 'node:timers/promises';

/** The part of a client that is needed here. */
export interface Caller {
  call(
    method: string,
    path: string,
    body?: unknown,
  ): Promise<{ readonly status: number; readonly json: unknown }>;
}

export type RunKind = 'three' | 'activity' | 'event' | 'delay';

const DEFINITIONS: Readonly<Record<RunKind, readonly object[]>> = {
  three: [
    { Id: 'a', StepType: 'NoOp', NextStepId: 'b' },
    { Id: 'b', StepType: 'NoOp', NextStepId: 'c' },
    { Id: 'c', StepType: 'NoOp', Outputs: { seen: 'data.n' } },
  ],
  activity: [
    {
      Id: 'work',
      StepType: 'Activity',
      Inputs: { ActivityName: '"mixed"', Parameters: { '@n': 'data.n' } },
      Outputs: { result: 'step.Result' },
    },
  ],
  event: [
    {
      Id: 'wait',
      StepType: 'WaitFor',
      Inputs: { EventName: '"mixed"', EventKey: 'context.Workflow.Id' },
      Outputs: { got: 'step.EventData' },
    },
  ],
  delay: [{ Id: 'wait', StepType: 'Delay', Inputs: { Period: 1 } }],
};

export async function defineRuns(client: Caller): Promise<void> {
  for (const [Id, Steps] of Object.entries(DEFINITIONS)) {
    await client.call('POST', '/api/definition', { Id, Steps });
  }
}

/** Each call goes to a client from `pick`. A run that waits for an event gets it. */
export async function startRun(pick: () => Caller, kind: RunKind, n: number): Promise<string> {
  const { json } = await pick().call('POST', `/api/workflow/${kind}`, { n });
  const { workflowId } = json as { readonly workflowId: string };
  if (kind === 'event') await pick().call('POST', `/api/event/mixed/${workflowId}`, { n });
  return workflowId;
}

export interface MixedLoad {
  isOver: boolean;
  started: number;
  failed: number;
  /** Not started because too many starts were in progress: the servers do not keep up. */
  skipped: number;
}

export function newLoad(): MixedLoad {
  return { isOver: false, started: 0, failed: 0, skipped: 0 };
}

const TICK_MS = 10;
const IN_FLIGHT_MAX = 256;

/** Starts runs until the load is over. It keeps the rate: a late tick starts what earlier ones have missed. */
export async function startAtRate(
  pick: () => Caller,
  {
    load,
    mix,
    rate,
  }: { readonly load: MixedLoad; readonly mix: readonly RunKind[]; readonly rate: number },
): Promise<void> {
  const beganAt = performance.now();
  let due = 0;
  let inFlight = 0;
  while (!load.isOver) {
    for (const until = ((performance.now() - beganAt) / 1000) * rate; due < until; due += 1) {
      if (inFlight >= IN_FLIGHT_MAX) {
        load.skipped += 1;
        continue;
      }
      inFlight += 1;
      void startRun(pick, mix[due % mix.length] ?? 'three', due)
        .then(
          () => (load.started += 1),
          () => (load.failed += 1),
        )
        .finally(() => (inFlight -= 1));
    }
    await setTimeout(TICK_MS);
  }
}

/** A worker for the runs of the kind `activity`. */
export async function workUntilOver(pick: () => Caller, load: MixedLoad): Promise<void> {
  while (!load.isOver) {
    try {
      const { json, status } = await pick().call('GET', '/api/activity/mixed?timeout=1');
      if (status === 404) continue;
      const { token } = json as { readonly token: string };
      await pick().call('POST', `/api/activity/success/${token}`, { ok: true });
    } catch {
      load.failed += 1;
      await setTimeout(1000);
    }
  }
}
