/** Growing requests whose values runs use: data, results, events, and definitions that are run. */
import { expect } from 'vitest';
import type { JsonObject } from '../../../src/engine/values/json.js';
import { Client } from '../../behavior/support/client.js';
import { dimensionsOf, type Dimension } from './grow-value.js';
import { BODY_BYTES_MAX, WORKFLOW_DATA } from './requests.js';

export interface LiveGrowth {
  readonly name: string;
  /** Throws RangeError if this size cannot be written. */
  readonly grow: (size: number) => string;
  /** Starts a run and lets it reach the point where it uses the body; returns what is measured. */
  readonly prepare: (runs: Runs, body: string) => Promise<() => Promise<void>>;
}

/** Each reads one value in expressions, and ends. */
const TAKERS: readonly JsonObject[] = [
  taker('takes-data', {
    StepType: 'NoOp',
    Outputs: { copy: 'data.get("text")', length: 'len(str(data))' },
  }),
  taker('takes-result', {
    StepType: 'Activity',
    Inputs: { ActivityName: '"grows"' },
    Outputs: { copy: 'step.Result', length: 'len(str(step.Result))' },
  }),
  taker('takes-event', {
    StepType: 'WaitFor',
    Inputs: { EventName: '"grows"', EventKey: 'data.key' },
    Outputs: { copy: 'step.EventData', length: 'len(str(step.EventData))' },
  }),
];

function taker(Id: string, step: JsonObject): JsonObject {
  return { Id, DefaultErrorBehavior: 'Terminate', Steps: [{ Id: 'take', ...step }] };
}

/** Each member of a definition whose run ends without external input. */
const RUNS: JsonObject = {
  Id: 'growth',
  Description: 'text',
  DefaultErrorBehavior: 'Terminate',
  Steps: [
    {
      Id: 'a',
      Name: 'first',
      StepType: 'EmitLog',
      Inputs: { Message: '"total: " + str(data.a["b"] + 1)', Level: '"debug"' },
      Outputs: { x: 'step.Message', y: 'data.a["b"]' },
      SelectNextStep: { b: 'data.a["b"] > 0' },
      CancelCondition: 'data.get("c", False)',
    },
    {
      Id: 'b',
      StepType: 'Sequence',
      Saga: true,
      NextStepId: 'e',
      Do: [[{ Id: 'c', StepType: 'NoOp' }]],
      CompensateWith: [{ Id: 'd', StepType: 'NoOp' }],
    },
    {
      Id: 'e',
      StepType: 'Foreach',
      Inputs: { Collection: '[1, 2]' },
      Do: [[{ Id: 'f', StepType: 'NoOp', Outputs: { z: 'context.Item' } }]],
      NextStepId: 'g',
    },
    {
      Id: 'g',
      StepType: 'Activity',
      Inputs: {
        ActivityName: '"takes all"',
        Parameters: { '@b': 'data.a', list: [{ '@c': '1' }] },
      },
    },
  ],
};

const RUNS_DATA: JsonObject = { a: { b: 1 } };

/** The views of a run that callers request afterwards. */
const VIEWS = ['?wait=1', '/explain', '/steps?limit=500', '/audit'] as const;

/** The calls that prepare runs to use a value. */
export class Runs {
  readonly client: Client;
  #made = 0;

  constructor(url: string) {
    this.client = new Client(url);
  }

  /** Stores the definitions, and waits until a run of the growing one has ended. */
  async define(): Promise<void> {
    for (const definition of [...TAKERS, RUNS]) {
      const { status, text } = await this.client.postDefinition(definition);
      expect(status, text).toBe(201);
    }
    const id = await this.client.start('growth', RUNS_DATA);
    await this.client.succeed((await this.client.work('takes all')).token, 1);
    expect((await this.client.ended(id)).status).toBe('Complete');
  }

  /** A run that waits for a value. */
  async waiting(definition: 'takes-result' | 'takes-event'): Promise<Waiting> {
    this.#made += 1;
    const key = `key-${this.#made}`;
    const id = await this.client.start(definition, { key });
    const step = await this.client.untilWaiting(id, 'take');
    return { id, key, executionId: step.executionId };
  }

  /** The response; null if the body was rejected, which is fine unless the server failed. */
  async post(path: string, body: string): Promise<string | null> {
    const answer = await this.client.call('POST', path, { body, type: 'application/json' });
    expect(answer.status, answer.text.slice(0, 500)).not.toBe(500);
    return answer.status < 300 ? answer.text : null;
  }

  /** Sends the body and requests every view of the run once it has used the body. */
  async give(path: string, body: string, { id }: Pick<Waiting, 'id'>): Promise<void> {
    if ((await this.post(path, body)) !== null) await this.see(id);
    else await this.client.terminate(id);
  }

  async see(id: string): Promise<void> {
    for (const view of VIEWS) {
      const { status, text } = await this.client.get(`/api/workflow/${id}${view}`);
      expect(status, text.slice(0, 500)).toBeLessThan(500);
    }
    await this.client.terminate(id);
  }
}

interface Waiting {
  readonly id: string;
  readonly key: string;
  readonly executionId: number;
}

type Take = LiveGrowth['prepare'];

const idOf = (answer: string): string => (JSON.parse(answer) as { workflowId: string }).workflowId;

const start: Take = (runs, body) =>
  Promise.resolve(async () => {
    const started = await runs.post('/api/workflow/takes-data', body);
    if (started !== null) await runs.see(idOf(started));
  });

const reportWork =
  (how: 'success' | 'fail'): Take =>
  async (runs, body) => {
    const run = await runs.waiting('takes-result');
    const { token } = await runs.client.work('grows');
    return () => runs.give(`/api/activity/${how}/${token}`, body, run);
  };

const decide =
  (how: 'success' | 'fail'): Take =>
  async (runs, body) => {
    const run = await runs.waiting('takes-result');
    return () => runs.give(`/api/workflow/${run.id}/steps/${run.executionId}/${how}`, body, run);
  };

const publish: Take = async (runs, body) => {
  const run = await runs.waiting('takes-event');
  return () => runs.give(`/api/event/grows/${run.key}`, body, run);
};

/** Stores the definition, and follows a run of it to its last step. */
const follow: Take = (runs, body) =>
  Promise.resolve(async () => {
    if ((await runs.post('/api/definition', body)) === null) return;
    const started = await runs.post('/api/workflow/growth', JSON.stringify(RUNS_DATA));
    if (started === null) return;
    const { body: item, status } = await runs.client.pull('takes all', '?timeout=1');
    if (status === 200) await runs.client.succeed(item.token, 1);
    await runs.see(idOf(started));
  });

export function liveGrowths(): readonly LiveGrowth[] {
  const data: readonly Dimension[] = dimensionsOf(WORKFLOW_DATA);
  return [
    ...taken('a run starts with', data, start),
    ...taken('a worker answers', data, reportWork('success')),
    ...taken('a worker fails with', data, reportWork('fail')),
    ...taken('an event brings', data, publish),
    ...taken('an operator gives a step', data, decide('success')),
    ...taken('an operator fails a step with', data, decide('fail')),
    ...taken('a run follows', dimensionsOf(RUNS), follow),
  ];
}

function taken(
  what: string,
  dimensions: readonly Dimension[],
  prepare: Take,
): readonly LiveGrowth[] {
  return dimensions.map(({ grow, name }) => ({
    name: `${what}: ${name}`,
    grow: (size) => {
      const body = JSON.stringify(grow(size));
      if (body.length > BODY_BYTES_MAX) throw new RangeError('too long');
      return body;
    },
    prepare,
  }));
}
