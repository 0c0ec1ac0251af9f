/** One run in each kind of wait, and what ends the wait: for tests of restarts. */
import { expect } from 'vitest';
import type { Workflow } from '../../../src/api/wire/models/workflow.js';
import type { Json, JsonObject } from '../../../src/engine/values/json.js';
import { fresh, type Client } from './client.js';
import { eventually } from '../../../../sdk/test/support/eventually.js';
import { chain, compute, mark, step, type Steps } from './steps.js';

export interface Wait {
  readonly does: string;
  /** Starts the run and resolves when it is waiting. */
  begin(client: Client): Promise<StartedWait>;
}

export interface StartedWait {
  readonly id: string;
  /** The compensated error is still there at the end. */
  readonly isCompensated?: true;
  /** Called on the next server: does what is needed and returns the expected data. */
  end(client: Client): Promise<JsonObject>;
}

interface Shape {
  readonly does: string;
  readonly steps: (name: string) => Steps | JsonObject;
  readonly data?: JsonObject;
  readonly until: (client: Client, id: string, name: string) => Promise<unknown>;
  readonly finish?: (client: Client, id: string, name: string) => Promise<unknown>;
  readonly gives: JsonObject;
  readonly isCompensated?: true;
}

const activity = (Id: string, name: string, rest: JsonObject = {}) =>
  step(
    Id,
    'Activity',
    { ActivityName: `"${name}"` },
    { Outputs: { [Id]: 'step.Result' }, ...rest },
  );

const waitFor = (Id: string, name: string) =>
  step(
    Id,
    'WaitFor',
    { EventName: `"${name}"`, EventKey: '"k"' },
    { Outputs: { [Id]: 'step.EventData' } },
  );

const isWaiting = (stepId: string) => (client: Client, id: string) =>
  client.untilWaiting(id, stepId);

const work = (result: Json) => async (client: Client, _: string, name: string) =>
  client.succeed((await client.work(name)).token, result);

/** Tokens of items that were handed out before the restart, by run. */
const tokens = new Map<string, string>();

const SHAPES: readonly Shape[] = [
  {
    does: 'a Delay',
    steps: () => chain(mark('a'), step('wait', 'Delay', { Period: 1 }), mark('b')),
    until: isWaiting('wait'),
    gives: { trail: ['a', 'b'] },
  },
  {
    does: 'a Schedule in the background',
    steps: () =>
      chain(
        step('wait', 'Schedule', { Interval: 1, Background: true }, { Do: [[mark('in')]] }),
        mark('b'),
      ),
    until: isWaiting('wait'),
    gives: { trail: ['b', 'in'] },
  },
  {
    does: 'a Recur between two rounds',
    steps: () => [
      step(
        'wait',
        'Recur',
        { Interval: 0.7, StopCondition: 'data.get("n", 0) >= 2' },
        { Do: [[compute('n', { n: 'data.get("n", 0) + 1' })]] },
      ),
    ],
    until: isWaiting('wait'),
    gives: { n: 2 },
  },
  {
    does: 'a pause before a retry',
    steps: () =>
      chain(
        compute(
          'wait',
          { v: 'context.Step.Attempt if context.Step.Attempt > 1 else data.x' },
          { RetryInterval: 1 },
        ),
        mark('b'),
      ),
    until: isWaiting('wait'),
    gives: { v: 2, trail: ['b'] },
  },
  {
    does: 'a WaitFor',
    steps: (name) => chain(waitFor('wait', name), mark('b')),
    until: isWaiting('wait'),
    finish: (client, _, name) => client.publish(name, 'k', 'event'),
    gives: { wait: 'event', trail: ['b'] },
  },
  {
    does: 'a WaitFor with a Timeout',
    steps: (name) => [
      step(
        'wait',
        'WaitFor',
        { EventName: `"${name}"`, EventKey: '"k"', Timeout: 1 },
        { Outputs: { late: 'step.TimedOut' } },
      ),
    ],
    until: isWaiting('wait'),
    gives: { late: true },
  },
  {
    does: 'an event that was published before its wait',
    steps: (name) => chain(activity('first', name), waitFor('wait', name)),
    until: async (client, id, name) => {
      await client.untilWaiting(id, 'first');
      await client.publish(name, 'k', 'early');
    },
    finish: work('done'),
    gives: { first: 'done', wait: 'early' },
  },
  {
    does: 'an Activity that no worker has claimed',
    steps: (name) => [activity('wait', name)],
    until: isWaiting('wait'),
    finish: work(1),
    gives: { wait: 1 },
  },
  {
    does: 'an Activity that a worker holds',
    steps: (name) => [activity('wait', name)],
    until: async (client, id, name) => tokens.set(id, (await client.work(name)).token),
    finish: async (client, id, name) => {
      expect((await client.pull(name)).status).toBe(404);
      await client.succeed(tokens.get(id)!, 'held');
    },
    gives: { wait: 'held' },
  },
  {
    does: 'an Activity whose lease expires in the meantime',
    steps: (name) => [activity('wait', name)],
    until: (client, _, name) => client.work(name, '&lease=1'),
    finish: async (client, _, name) => {
      const { body } = await eventually('the item is offered again', async () => {
        const answer = await client.pull(name);
        return answer.status === 200 && answer;
      });
      await client.succeed(body.token, 'second');
    },
    gives: { wait: 'second' },
  },
  {
    does: 'branches and loops around waits',
    steps: (name) =>
      chain(
        step(
          'each',
          'Foreach',
          { Collection: '["x", "y"]' },
          {
            Do: [
              [
                step(
                  'if',
                  'If',
                  { Condition: 'True' },
                  {
                    Do: [
                      [
                        step(
                          'wait',
                          'Delay',
                          { Period: 1 },
                          { Outputs: { seen: 'data.get("seen", []) + [context.Item]' } },
                        ),
                      ],
                    ],
                  },
                ),
              ],
            ],
          },
        ),
        activity('last', name),
      ),
    until: isWaiting('wait'),
    finish: work(2),
    gives: { seen: ['x', 'y'], last: 2 },
  },
  {
    does: 'a compensation in a saga',
    steps: (name) =>
      chain(
        step(
          'saga',
          'Sequence',
          {},
          {
            Saga: true,
            Do: [
              chain(
                mark('a', { CompensateWith: [mark('-a')] }),
                mark('b', { CompensateWith: chain(activity('undo', name), mark('-b')) }),
                compute('f', { v: 'data.none' }),
              ),
            ],
          },
        ),
        mark('after'),
      ),
    until: isWaiting('undo'),
    finish: work('undone'),
    gives: { trail: ['a', 'b', '-b', '-a', 'after'], undo: 'undone' },
    isCompensated: true,
  },
  {
    does: 'a suspended instance',
    // Long enough that the suspension comes first on a busy machine.
    steps: () => chain(step('wait', 'Delay', { Period: 3 }), mark('b')),
    until: (client, id) => client.control(id, 'suspend'),
    finish: async (client, id) => {
      expect(await client.workflow(id)).toMatchObject({ status: 'Suspended', data: {} });
      expect((await client.control(id, 'resume')).status).toBe(200);
    },
    gives: { trail: ['b'] },
  },
];

/** A child that is waited for. It needs two definitions, so it is not in the table. */
const subWorkflow: Wait = {
  does: 'a SubWorkflow',
  async begin(client) {
    const name = fresh('wait');
    const child = await client.define([activity('inner', name)]);
    const id = await client.defineAndStart([
      step(
        'wait',
        'SubWorkflow',
        { DefinitionId: `"${child}"` },
        { Outputs: { child: 'step.Data' } },
      ),
    ]);
    await client.untilWaiting(id, 'wait');
    return {
      id,
      async end(after) {
        await work('in')(after, id, name);
        return { child: { inner: 'in' } };
      },
    };
  },
};

export const WAITS: readonly Wait[] = [
  ...SHAPES.map(({ data = {}, does, finish, gives, isCompensated, steps, until }) => ({
    does,
    async begin(client: Client): Promise<StartedWait> {
      const name = fresh('wait');
      const id = await client.defineAndStart(steps(name), data);
      await until(client, id, name);
      return {
        id,
        ...(isCompensated === true && { isCompensated }),
        async end(after) {
          await finish?.(after, id, name);
          return gives;
        },
      };
    },
  })),
  subWorkflow,
];

/** Ends the wait, and compares the result. */
export async function succeedsAfterRestart(client: Client, begun: StartedWait): Promise<Workflow> {
  const gives = await begun.end(client);
  const ended = await client.ended(begun.id);
  expect(ended).toMatchObject(
    begun.isCompensated === true
      ? { status: 'Complete', outcome: 'Compensated', lastError: { type: 'AttributeError' } }
      : { status: 'Complete', outcome: 'Succeeded', lastError: null },
  );
  expect(ended.data).toEqual(gives);
  return ended;
}
