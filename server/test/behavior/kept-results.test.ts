/**
 * Results are kept: when Outputs or a selector fail after a step has its event, result or response, a retry or a resume
 * evaluates them again with the same one.
 */
import { describe, expect, it } from 'vitest';
import type { Workflow, WorkflowPage } from '../../src/api/wire/models/workflow.js';
import type { JsonObject } from '../../src/engine/values/json.js';
import { useCallee } from './support/callee.js';
import type { Client } from './support/client.js';
import { fresh } from './support/client.js';
import { everyStore, type Surroundings } from './support/every-store.js';
import { chain, mark, step } from './support/steps.js';

const calls: string[] = [];
const callee = useCallee((request, response) => {
  calls.push(request.url ?? '');
  response.setHeader('content-type', 'application/json');
  response.end('"answer"');
});

interface Kind {
  readonly kind: string;
  /** The step, and the content of `step` afterwards. */
  make(
    client: Client,
    name: string,
  ): Promise<{ readonly step: JsonObject; readonly value: string }>;
  /** Delivers what the step is waiting for. */
  answer(client: Client, name: string): Promise<unknown>;
  readonly gives: unknown;
  /** Nothing is requested a second time. */
  once(client: Client, name: string): Promise<void>;
}

const KINDS: readonly Kind[] = [
  {
    kind: 'WaitFor',
    make: async (_, name) => ({
      step: step('s', 'WaitFor', { EventName: `"${name}"`, EventKey: '"k"' }),
      value: 'step.EventData',
    }),
    answer: (client, name) => client.publish(name, 'k', 'first'),
    gives: 'first',
    once: async (client, name) => {
      expect(await client.publish(name, 'k', 'second')).toMatchObject({ deliveredTo: 0 });
    },
  },
  {
    kind: 'Activity',
    make: async (_, name) => ({
      step: step('s', 'Activity', { ActivityName: `"${name}"` }),
      value: 'step.Result',
    }),
    answer: async (client, name) => client.succeed((await client.work(name)).token, 'paid'),
    gives: 'paid',
    once: async (client, name) => {
      expect((await client.pull(name)).status).toBe(404);
    },
  },
  {
    kind: 'HttpRequest',
    make: async (_, name) => ({
      step: step('s', 'HttpRequest', { BaseUrl: 'data.base', Resource: `"/${name}"` }),
      value: 'step.ResponseBody',
    }),
    answer: () => Promise.resolve(),
    gives: 'answer',
    once: async (_, name) => {
      expect(calls.filter((url) => url === `/${name}`)).toHaveLength(1);
    },
  },
  {
    kind: 'a custom step',
    make: async (client) => {
      const script = await client.script('attempt = n');
      return { step: step('s', script, { n: 'context.Step.Attempt' }), value: 'step.attempt' };
    },
    answer: () => Promise.resolve(),
    gives: 1,
    once: () => Promise.resolve(),
  },
  {
    kind: 'SubWorkflow',
    make: async (client, name) => {
      const answer = await client.postDefinition({ Id: name, Steps: [mark('in')] });
      expect(answer.status, answer.text).toBe(201);
      return {
        step: step('s', 'SubWorkflow', { DefinitionId: `"${name}"` }),
        value: 'step.Status',
      };
    },
    answer: () => Promise.resolve(),
    gives: 'Complete',
    once: async (client, name) => {
      const { body } = await client.get<WorkflowPage>(`/api/workflow?definitionId=${name}`);
      expect(body.items).toHaveLength(1);
    },
  },
];

everyStore('the result of a step', keepsResults, { dialects: 'alternating' });

function keepsResults(at: Surroundings): void {
  describe.each(KINDS)('of type $kind', (kind) => {
    const begin = async (members: (value: string) => JsonObject) => {
      const name = fresh('kept');
      const made = await kind.make(at.client, name);
      const steps = chain({ ...made.step, ...members(made.value) }, mark('after'));
      const id = await at.client.defineAndStart(steps, { base: callee.url });
      await kind.answer(at.client, name);
      return { id, name };
    };

    it('is kept for retries when the outputs fail', async () => {
      const { id, name } = await begin((value) => ({
        RetryInterval: 0.1,
        Outputs: { got: `${value} if context.Step.Attempt > 2 else data.none` },
      }));
      const ended = await at.client.ended(id);
      expect(ended).toMatchObject({ status: 'Complete', data: { got: kind.gives } });
      expect(await at.client.trace(id)).toEqual([
        's Failed',
        's Failed',
        's Complete',
        'after Complete',
      ]);
      await kind.once(at.client, name);
    });

    it('is kept for a resume when a selector fails, even across a restart', async () => {
      const { id, name } = await begin((value) => ({
        ErrorBehavior: 'Suspend',
        Outputs: { got: value },
        SelectNextStep: { after: 'False if context.Step.Attempt > 1 else data.none' },
      }));
      const isSuspended = ({ status }: Workflow) => status === 'Suspended';
      const suspended = await at.client.untilWorkflow(id, isSuspended);
      expect(suspended.data['got']).toBeUndefined();
      await at.restart();
      await at.client.control(id, 'resume');
      const ended = await at.client.ended(id);
      expect(ended).toMatchObject({ status: 'Complete', data: { got: kind.gives } });
      await kind.once(at.client, name);
    });
  });

  it('appears in the explanation, and an immediate retry uses it', async () => {
    const { client } = at;
    const name = fresh('kept');
    const id = await client.defineAndStart([
      step(
        's',
        'Activity',
        { ActivityName: `"${name}"` },
        {
          RetryInterval: 3600,
          Outputs: { got: 'step.Result if context.Step.Attempt > 1 else data.none' },
        },
      ),
    ]);
    await client.succeed((await client.work(name)).token, 'paid');
    await client.untilStep(id, 's', ({ attempt }) => attempt === 2);
    const { text } = await client.get(`/api/workflow/${id}/explain`);
    expect(text).toMatch(/attempt 2 in .* \(evaluates its Outputs again\)/);
    expect((await client.call('PUT', `/api/workflow/${id}/retry`)).status).toBe(200);
    expect(await client.ended(id)).toMatchObject({ status: 'Complete', data: { got: 'paid' } });
  });

  it('refers to the only child that its SubWorkflow step started', async () => {
    const { client } = at;
    const child = await client.define([mark('in')]);
    const ended = await client.run([
      step(
        's',
        'SubWorkflow',
        { DefinitionId: `"${child}"` },
        {
          RetryInterval: 0.1,
          Outputs: { child: 'step.WorkflowId if context.Step.Attempt > 1 else data.none' },
        },
      ),
    ]);
    const steps = await client.steps(ended.workflowId);
    expect(steps.map(({ childWorkflowId }) => childWorkflowId)).toEqual([
      ended.data['child'],
      ended.data['child'],
    ]);
  });
}
