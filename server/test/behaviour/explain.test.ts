/** GET /api/workflow/{id}/explain: every kind of wait, brought about on a whole server, and the words for it. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Explanation, WaitReason } from '../../src/api/wire/models/explanation.js';
import type { JsonObject } from '../../src/engine/values/json.js';
import type { InstanceRecord } from '../../src/store/records/instances.js';
import type { Store } from '../../src/store/store.js';
import { NO_SIDE } from '../store/records.js';
import { fresh, type Client } from './support/client.js';
import { eventually } from './support/eventually.js';
import { everyStore, type Surroundings } from './support/every-store.js';
import { activity, failing, mark, step } from './support/steps.js';

const silent = createServer(() => undefined);
let silentUrl = '';
beforeAll(async () => {
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  silentUrl = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/`;
});
afterAll(async () => {
  silent.closeAllConnections();
  await new Promise((resolve) => silent.close(resolve));
});

interface Case {
  readonly of: string;
  /** Brings it about and answers the id of the workflow. */
  readonly arrange: (client: Client) => Promise<string>;
  /** The first reason. */
  readonly reason: Partial<Omit<WaitReason, 'text'>> & { readonly text: RegExp };
  readonly summary?: RegExp;
}

const DAY = '86400';
const waitFor = (id: string, name: string, rest: JsonObject = {}): JsonObject =>
  step(id, 'WaitFor', { EventName: `'${name}'`, EventKey: "'42'", ...rest });

/** A definition whose failures suspend. */
const suspending = (...Steps: JsonObject[]): JsonObject => ({
  DefaultErrorBehavior: 'Suspend',
  Steps,
});

const CASES: readonly Case[] = [
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
      text: /^retry 1 in (10|9) min \(evaluates its Outputs again\): .*missing_field/,
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
    of: 'an event that counts only later, and a wait with a time limit',
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
    reason: { kind: 'activity', text: /: no worker has polled for it for \d+ s$/ },
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
    reason: { kind: 'activity', text: /: the lease of worker w3 ended \d+ s ago; no worker has/ },
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
    arrange: (client) =>
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

everyStore('explain', explains, {
  dialects: 'alternating',
  environment: { http_allow_loopback: 'true' },
});

function explains(at: Surroundings): void {
  const explain = async (id: string): Promise<Explanation> => {
    const { body, status, text } = await at.client.get<Explanation>(`/api/workflow/${id}/explain`);
    expect(status, text).toBe(200);
    return body;
  };
  const until = (id: string, holds: (seen: Explanation) => boolean): Promise<Explanation> =>
    eventually(async () => {
      const value = await explain(id);
      return { done: holds(value), value };
    });

  it.concurrent.for(CASES)('says of $of', async ({ arrange, reason, summary }) => {
    const id = await arrange(at.client);
    const { text, ...members } = reason;
    const seen = await until(id, ({ reasons }) => text.test(reasons[0]?.text ?? ''));
    expect(seen).toMatchObject({ workflowId: id, moreReasons: 0 });
    expect(seen.reasons[0]).toMatchObject(members);
    expect(seen.summary).toContain(seen.reasons[0]!.text);
    if (summary !== undefined) expect(seen.summary).toMatch(summary);
  });

  it('tells what a suspended workflow will go on with', async () => {
    const event = fresh('held');
    const name = fresh('deferred');
    const steps = [
      step('both', 'Parallel', {}, { Do: [[waitFor('ask', event)], [activity('work', name)]] }),
    ];
    const id = await at.client.defineAndStart(steps);
    await at.client.untilWaiting(id, 'ask');
    await at.client.control(id, 'suspend');
    await at.client.publish(event, '42', 1);
    expect((await at.client.pull(name)).status).toBe(404);
    const { reasons } = await explain(id);
    expect(reasons.map(({ kind }) => kind)).toEqual(['suspended', 'activity', 'scheduled']);
    expect(reasons[1]?.text).toMatch(/deferred while the run was suspended; offered again/);
    expect(reasons[2]).toMatchObject({
      stepId: 'ask',
      text: 'has its result and continues when the run is resumed',
    });
  });

  it('gives a reason for each branch, and counts those that are too many', async () => {
    const name = fresh('crowd');
    const nap = step('nap', 'Delay', { Period: DAY });
    const branches = [[nap], [activity('work', name)], [failing('bad', { RetryInterval: 600 })]];
    const id = await at.client.defineAndStart([step('all', 'Parallel', {}, { Do: branches })]);
    const few = await until(id, ({ reasons }) => reasons[0]?.kind === 'retry');
    expect(few.reasons.map(({ kind }) => kind)).toEqual(['retry', 'activity', 'timer']);
    expect(few.summary).toMatch(/^bad: retry 1 .* \(and 2 more\)$/);
    const many = await at.client.defineAndStart([
      step('each', 'Foreach', { Collection: 'list(range(70))' }, { Do: [[nap]] }),
    ]);
    const seen = await until(many, ({ moreReasons }) => moreReasons > 0);
    expect(seen.reasons).toHaveLength(50);
    expect(seen.moreReasons).toBe(20);
    expect(seen.summary).toMatch(/\(and 69 more\)$/);
  });

  it('knows workers that wait, on the heartbeat', async () => {
    const name = fresh('polled');
    const id = await at.client.defineAndStart([activity('work', name)]);
    await at.client.untilWaiting(id, 'work');
    await at.client.control(id, 'suspend');
    const hangUp = new AbortController();
    const polls = [1, 2].map(() =>
      at.client
        .call('GET', `/api/activity/${name}?timeout=60`, { signal: hangUp.signal })
        .catch(() => undefined),
    );
    const seen = await until(id, ({ reasons }) => reasons[1]?.queue?.pollers === 2);
    expect(seen.reasons[1]?.kind).toBe('activity');
    hangUp.abort();
    await Promise.all(polls);
  });

  describe('of what the server cannot run', () => {
    /** An instance of the store like the one that waits, but for this. */
    const planted = async (
      changes: Partial<InstanceRecord>,
      edit: (state: Record<string, unknown>) => void = () => undefined,
    ): Promise<Explanation> => {
      const id = await at.client.defineAndStart([step('nap', 'Delay', { Period: DAY })]);
      await at.client.untilWaiting(id, 'nap');
      return withStore(at, async (store) => {
        const original = (await store.getInstance(id))!;
        const state = JSON.parse(original.state) as Record<string, unknown>;
        edit(state);
        const copy = { ...original, state: JSON.stringify(state), ...changes, id: `${id}-copy` };
        await store.insertInstance({ record: copy, side: NO_SIDE });
        return explain(copy.id);
      });
    };
    const inAnHour = Date.now() + 3_600_000;

    it('says that it was set aside, and why', async () => {
      const lastError = {
        stepId: '',
        pointerId: 0,
        type: 'Poison',
        message: 'servers stopped again and again',
        traceback: null,
        data: null,
        attempt: 1,
        time: Date.now(),
      };
      const { reasons } = await planted({ status: 'Suspended', wakeAt: null }, (state) => {
        state['lastError'] = lastError;
      });
      expect(reasons[0]).toMatchObject({ kind: 'set-aside', actions: ['resume', 'terminate'] });
      expect(reasons[0]?.text).toMatch(/^quarantined by the server \d+ s ago: servers stopped/);
    });

    it.each([
      [{ state: 'rubbish' }, /its stored state cannot be read/],
      [{ schemaVersion: 99 }, /a newer version of the server wrote this run/],
    ])('says it of one with %j', async (changes, text) => {
      const { reasons } = await planted({ ...changes, status: 'Suspended', wakeAt: null });
      expect(reasons).toHaveLength(1);
      expect(reasons[0]).toMatchObject({
        kind: 'set-aside',
        text: expect.stringMatching(text) as string,
      });
    });

    it('says that the node that ran it is gone', async () => {
      const { reasons } = await planted({ owner: 'gone', wakeAt: inAnHour }, (state) => {
        const [pointer] = state['pointers'] as Record<string, unknown>[];
        pointer!['state'] = { kind: 'effect', inputs: {} };
      });
      expect(reasons[0]).toMatchObject({ kind: 'scheduled', nodeId: 'gone' });
      expect(reasons[0]?.text).toMatch(/is due, but node gone is gone; another node/);
    });

    it('finds something to say of one in which nothing is open', async () => {
      const { reasons } = await planted({ owner: 'gone', wakeAt: inAnHour }, (state) => {
        state['pointers'] = [];
      });
      expect(reasons).toHaveLength(1);
      expect(reasons[0]).toMatchObject({ kind: 'scheduled', stepId: null });
    });
  });
}

/** The store of the server, which only the memory store has to itself. */
async function withStore<Result>(
  { kind, store }: Surroundings,
  work: (store: Store) => Promise<Result>,
): Promise<Result> {
  const opened = store.open();
  if (kind === 'memory') return work(opened);
  await opened.start();
  try {
    return await work(opened);
  } finally {
    await opened.stop();
  }
}
