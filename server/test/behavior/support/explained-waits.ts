/** Every kind of wait, how a test brings it about, and how `explain` describes it. */
import { expect } from 'vitest';
import type { WaitReason } from '../../../src/api/wire/models/explanation.js';
import type { JsonObject } from '../../../src/engine/values/json.js';
import { fresh, type Client } from './client.js';
import { activity, failing, mark, step } from './steps.js';
export interface ExplainedWait {
  readonly of: string;
  /** Brings it about and returns the id of the run. `silentUrl` is a server that never responds. */
  readonly arrange: (client: Client, silentUrl: string) => Promise<string>;
  /** The first reason. */
  readonly reason: Partial<Omit<WaitReason, 'text'>> & { readonly text: RegExp };
  readonly summary?: RegExp;
}

export const DAY = '86400';
export const waitFor = (id: string, name: string, rest: JsonObject = {}): JsonObject =>
  step(id, 'WaitFor', { EventName: `'${name}'`, EventKey: "'42'", ...rest });

/** A definition whose failures suspend the run. */
export const suspending = (...Steps: JsonObject[]): JsonObject => ({
  DefaultErrorBehavior: 'Suspend',
  Steps,
});

export const EXPLAINED_WAITS: readonly ExplainedWait[] = [
  {
    of: 'a Delay',
    arrange: (client) => client.defineAndStart([step('nap', 'Delay', { Period: DAY })]),
    reason: {
      kind: 'timer',
      text: /^waiting until \d{4}-.*Z \((in 1 d|in 23 h 59 min)\)$/,
      stepId: 'nap',
      stepType: 'Delay',
      attempt: 1,
      actions: ['terminate'],
    },
    summary: /^nap: waiting until/,
  },
  {
    of: 'a Schedule',
    arrange: (client) =>
      client.defineAndStart([step('later', 'Schedule', { Interval: DAY }, { Do: [[mark('a')]] })]),
    reason: { kind: 'timer', text: /^waiting until .* \(in /, stepId: 'later' },
  },
  {
    of: 'the next round of a Recur',
    arrange: (client) =>
      client.defineAndStart([
        step('often', 'Recur', { Interval: DAY, StopCondition: 'False' }, { Do: [[mark('a')]] }),
      ]),
    reason: { kind: 'timer', text: /^waiting for its next round at .* \(in /, stepId: 'often' },
  },
  {
    of: 'a retry',
    arrange: (client) => client.defineAndStart([failing('bad', { RetryInterval: 600 })]),
    reason: {
      kind: 'retry',
      text: /^attempt 2 in (10|9) min \(evaluates its Outputs again\): .*missing_field/,
      attempt: 2,
      error: expect.objectContaining({ stepId: 'bad', attempt: 1 }) as WaitReason['error'],
      actions: ['retry', 'suspend', 'terminate'],
    },
  },
  {
    of: 'an event that nobody published',
    arrange: (client) => client.defineAndStart([waitFor('ask', fresh('never'))]),
    reason: {
      kind: 'event',
      text: /^has been waiting for event never-\d+\/42 for \d+ s; no matching event has been published since the effective date$/,
      eventKey: '42',
      actions: ['publish-event', 'terminate'],
    },
  },
  {
    of: 'an event that was published too early',
    async arrange(client) {
      const name = fresh('early');
      await client.publish(name, '42', 1);
      return client.defineAndStart([waitFor('ask', name)]);
    },
    reason: {
      kind: 'event',
      text: /a matching event was published \d+ s before the effective date/,
    },
  },
  {
    of: 'a wait with a timeout whose event counts only from a later time',
    arrange: (client) =>
      client.defineAndStart([
        waitFor('ask', fresh('later'), { EffectiveDate: "'2999-01-01T00:00:00Z'", Timeout: DAY }),
      ]),
    reason: { kind: 'event', text: /only an event published in \d+ d .* counts; times out in / },
  },
  {
    of: 'an event that came while it was suspended',
    async arrange(client) {
      const name = fresh('held');
      const id = await client.defineAndStart([waitFor('ask', name)]);
      await client.untilWaiting(id, 'ask');
      await client.control(id, 'suspend');
      await client.publish(name, '42', 1);
      return id;
    },
    reason: { kind: 'suspended', text: /^suspended by an operator \d+ s ago$/ },
    summary: /^suspended by an operator/,
  },
  {
    of: 'an activity that no worker ever polled for',
    arrange: (client) => client.defineAndStart([activity('work', fresh('lonely'))]),
    reason: {
      kind: 'activity',
      text: /^activity lonely-\d+: no worker has polled for it since the nodes started$/,
      queue: { pollers: 0, lastPollTime: null },
      actions: ['complete-activity', 'fail-activity', 'terminate'],
    },
  },
  {
    of: 'an activity whose workers have gone',
    async arrange(client) {
      const name = fresh('left');
      expect((await client.pull(name)).status).toBe(404);
      return client.defineAndStart([activity('work', name)]);
    },
    reason: {
      kind: 'activity',
      text: /: waiting for a worker to poll for it; the last poll was \d+ s ago$/,
    },
  },
  {
    of: 'an activity that is held with a lease',
    async arrange(client) {
      const name = fresh('leased');
      const id = await client.defineAndStart([activity('work', name)]);
      await client.work(name, '&workerId=w1&lease=600');
      return id;
    },
    reason: {
      kind: 'activity',
      text: /: held by worker w1, whose lease ends in (10|9) min$/,
      worker: { workerId: 'w1', leaseUntil: expect.stringMatching(/Z$/) as string },
    },
  },
  {
    of: 'an activity that is held without a lease',
    async arrange(client) {
      const name = fresh('kept');
      const id = await client.defineAndStart([activity('work', name)]);
      await client.work(name, '&workerId=w2');
      return id;
    },
    reason: {
      kind: 'activity',
      text: /: held by worker w2, without a lease$/,
      worker: { workerId: 'w2', leaseUntil: null },
    },
  },
  {
    of: 'an activity whose lease has ended',
    async arrange(client) {
      const name = fresh('lost');
      const id = await client.defineAndStart([activity('work', name)]);
      await client.work(name, '&workerId=w3&lease=1');
      return id;
    },
    reason: {
      kind: 'activity',
      text: /: the lease of worker w3 ended \d+ s ago; (?:no worker has|waiting for a worker)/,
    },
  },
  {
    of: 'an activity that was passed over while suspended',
    async arrange(client) {
      const name = fresh('deferred');
      const id = await client.defineAndStart([activity('work', name)]);
      await client.untilWaiting(id, 'work');
      await client.control(id, 'suspend');
      expect((await client.pull(name)).status).toBe(404);
      return id;
    },
    reason: { kind: 'suspended', text: /^suspended by an operator/ },
  },
  {
    of: 'a child that waits',
    async arrange(client) {
      const child = await client.define([step('nap', 'Delay', { Period: DAY })]);
      return client.defineAndStart([step('call', 'SubWorkflow', { DefinitionId: `'${child}'` })]);
    },
    reason: {
      kind: 'workflow',
      text: /^has been waiting for run \S+ for \d+ s; it is Runnable: nap: waiting until/,
      workflowId: expect.any(String) as string,
    },
  },
  {
    of: 'a child that is suspended',
    async arrange(client) {
      const child = await client.define(suspending(failing('bad')));
      return client.defineAndStart([step('call', 'SubWorkflow', { DefinitionId: `'${child}'` })]);
    },
    reason: {
      kind: 'workflow',
      text: /; it is Suspended: suspended .* ago because step bad failed: /,
    },
  },
  {
    of: 'an HTTP call under way',
    arrange: (client, silentUrl) =>
      client.defineAndStart([step('call', 'HttpRequest', { BaseUrl: `'${silentUrl}'` })]),
    reason: {
      kind: 'running',
      text: /^has been running HttpRequest for \d+ s on node \S+$/,
      nodeId: expect.any(String) as string,
    },
  },
  {
    of: 'a step that failed and suspended it',
    arrange: (client) => client.defineAndStart(suspending(failing('bad'))),
    reason: {
      kind: 'suspended',
      text: /^suspended \d+ s ago because step bad failed: .*missing_field/,
      stepId: 'bad',
      error: expect.objectContaining({ stepId: 'bad' }) as WaitReason['error'],
      actions: ['resume', 'terminate'],
    },
  },
  {
    of: 'the end',
    arrange: (client) => client.defineAndStart([mark('a')]),
    reason: { kind: 'ended', text: /^completed \d+ s ago, \d+ s after its start$/, actions: [] },
  },
  {
    of: 'an end by an operator',
    async arrange(client) {
      const id = await client.defineAndStart([step('nap', 'Delay', { Period: DAY })]);
      await client.terminate(id);
      return id;
    },
    reason: { kind: 'ended', text: /^terminated by an operator \d+ s ago/ },
  },
  {
    of: 'an end by a failure',
    arrange: (client) =>
      client.defineAndStart({ DefaultErrorBehavior: 'Terminate', Steps: [failing('bad')] }),
    reason: { kind: 'ended', text: /^terminated \d+ s ago because step bad failed: / },
  },
  {
    of: 'an item of a Foreach',
    arrange: (client) =>
      client.defineAndStart([
        step(
          'each',
          'Foreach',
          { Collection: "['x', 'y']", RunParallel: 'False' },
          { Do: [[step('nap', 'Delay', { Period: DAY })]] },
        ),
      ]),
    reason: { kind: 'timer', text: /^waiting until/, stepId: 'nap', item: 'x', index: 0 },
  },
];
