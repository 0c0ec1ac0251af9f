/**
 * A scripted mixed workload: every kind of step that writes, driven by calls that are repeated until they succeed.
 *
 * Every call has an idempotency key or is idempotent by nature, as a client's would be, so that a server that dies
 * during a call only costs a repetition.
 */
import { setTimeout } from 'node:timers/promises';
import type { Ledger } from '../../support/ledger.js';

/** The pause between two attempts of a call, so that a server that cannot start is not restarted in a tight loop. */
const RETRY_PAUSE_MS = 20;

export const DEFINITIONS: readonly object[] = [
  {
    Id: 'child',
    Steps: [{ Id: 'double', StepType: 'NoOp', Outputs: { doubled: 'sum([data.value] * 2)' } }],
  },
  {
    Id: 'mixed',
    Steps: [
      { Id: 'begin', StepType: 'NoOp', Outputs: { begun: true }, NextStepId: 'call' },
      {
        Id: 'call',
        StepType: 'HttpRequest',
        Inputs: { BaseUrl: 'data.ledger', Resource: '"/call"', Method: '"POST"' },
        Outputs: { answer: 'step.ResponseCode' },
        NextStepId: 'branches',
      },
      {
        Id: 'branches',
        StepType: 'Parallel',
        NextStepId: 'after',
        Do: [
          [
            {
              Id: 'work',
              StepType: 'Activity',
              Inputs: { ActivityName: '"work"', Parameters: { n: 7 } },
              Outputs: { worked: 'step.Result' },
            },
          ],
          [
            {
              Id: 'early',
              StepType: 'WaitFor',
              Inputs: { EventName: '"early"', EventKey: 'context.Workflow.Reference' },
              Outputs: { early: 'step.EventData' },
              NextStepId: 'late',
            },
            {
              Id: 'late',
              StepType: 'WaitFor',
              Inputs: { EventName: '"late"', EventKey: 'context.Workflow.Reference' },
              Outputs: { late: 'step.EventData' },
            },
          ],
          [
            {
              Id: 'pause',
              StepType: 'Delay',
              Inputs: { Period: 0.05 },
              NextStepId: 'sub',
            },
            {
              Id: 'sub',
              StepType: 'SubWorkflow',
              Inputs: { DefinitionId: '"child"', Data: { value: 21 } },
              Outputs: { fromChild: 'step.Data.doubled' },
            },
          ],
        ],
      },
      {
        Id: 'after',
        StepType: 'Foreach',
        Inputs: { Collection: 'data.items', RunParallel: false },
        NextStepId: 'undo',
        Do: [[{ Id: 'add', StepType: 'NoOp', Outputs: { sum: 'sum([data.sum, context.Item])' } }]],
      },
      {
        Id: 'undo',
        StepType: 'Sequence',
        Saga: true,
        NextStepId: 'end',
        Do: [
          [
            {
              Id: 'reserve',
              StepType: 'NoOp',
              Outputs: { reserved: true },
              CompensateWith: [{ Id: 'unreserve', StepType: 'NoOp', Outputs: { reserved: false } }],
              NextStepId: 'fail',
            },
            { Id: 'fail', StepType: 'NoOp', Outputs: { never: 'data.missing' } },
          ],
        ],
      },
      { Id: 'end', StepType: 'NoOp', Outputs: { ended: true } },
    ],
  },
];

/** The expected data of the instance at the end, whatever happened on the way. */
export const EXPECTED = {
  begun: true,
  answer: 200,
  worked: { by: 'worker' },
  early: 'e',
  late: 'l',
  fromChild: 42,
  sum: 16,
  reserved: false,
  ended: true,
} as const;

/** The expected number of records of each step in the history. */
export const EXPECTED_STEPS: Readonly<Record<string, number>> = {
  begin: 1,
  call: 1,
  branches: 1,
  work: 1,
  early: 1,
  late: 1,
  pause: 1,
  sub: 1,
  after: 1,
  add: 3,
  undo: 1,
  reserve: 1,
  unreserve: 1,
  fail: 1,
  end: 1,
};

type Address = () => Promise<string>;

/** Runs the workload to its end and returns the ended instance. */
export async function runMixedWorkload(address: Address, ledger: Ledger): Promise<Instance> {
  const client = new PersistentClient(address);
  for (const definition of DEFINITIONS) {
    await client.post(
      '/api/definition',
      definition,
      `definition-${JSON.stringify(definition).length}`,
    );
  }
  const start = { ledger: ledger.url, items: [1, 5, 10], sum: 0 };
  const { workflowId } = (await client.post(
    '/api/workflow/mixed?reference=run',
    start,
    'start',
  )) as Instance;
  await client.post('/api/event/early/run', 'e', 'early');
  const item = (await client.untilFound('/api/activity/work?workerId=w&timeout=2&lease=1')) as {
    readonly token: string;
  };
  await client.complete(item.token, { by: 'worker' });
  await client.post('/api/event/late/run', 'l', 'late');
  for (;;) {
    const instance = (await client.get(`/api/workflow/${workflowId}?wait=2`)) as Instance;
    if (instance.status === 'Complete' || instance.status === 'Terminated') return instance;
  }
}

export interface Instance {
  readonly workflowId: string;
  readonly status: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface StepRow {
  readonly stepId: string;
  readonly status: string;
  readonly executionId: number;
}

/** A client that does not give up: it waits until the server is back, within a deadline. */
export class PersistentClient {
  readonly #address: Address;
  readonly #deadline = Date.now() + 300_000;

  constructor(address: Address) {
    this.#address = address;
  }

  get(path: string): Promise<unknown> {
    return this.#call('GET', path, { expected: [200] });
  }

  post(path: string, body: unknown, idempotencyKey: string): Promise<unknown> {
    return this.#call('POST', path, { body, idempotencyKey, expected: [200, 201, 202] });
  }

  /** A poll whose response was lost holds the item until its lease expires; then it is handed out again. */
  async untilFound(path: string): Promise<unknown> {
    for (;;) {
      const found = await this.#call('GET', path, { expected: [200, 404] });
      if (typeof found === 'object' && found !== null && 'token' in found) return found;
    }
  }

  /** Another token may be needed if the response to the poll, or the lease, was lost. */
  async complete(token: string, result: unknown): Promise<void> {
    await this.#call('POST', `/api/activity/success/${token}`, { body: result, expected: [202] });
  }

  async #call(method: string, path: string, options: CallOptions): Promise<unknown> {
    const { body, expected, idempotencyKey } = options;
    for (;;) {
      if (Date.now() > this.#deadline)
        throw new Error(`${method} ${path} got no response before the deadline`);
      try {
        const response = await fetch(`${await this.#address()}${path}`, {
          method,
          headers: {
            'content-type': 'application/json',
            ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
          },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
        const text = await response.text();
        if (expected.includes(response.status)) return text === '' ? null : JSON.parse(text);
        if (response.status !== 503)
          throw new UnexpectedAnswer(`${method} ${path}: ${response.status} ${text}`);
      } catch (error) {
        // A refused or broken connection: the server has died, and the next call restarts it.
        if (error instanceof UnexpectedAnswer) throw error;
      }
      await setTimeout(RETRY_PAUSE_MS);
    }
  }
}

interface CallOptions {
  readonly body?: unknown;
  readonly idempotencyKey?: string;
  readonly expected: readonly number[];
}

class UnexpectedAnswer extends Error {
  override readonly name = 'UnexpectedAnswer' as const;
}
