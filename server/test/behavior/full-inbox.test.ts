/**
 * Goal: an inbox is limited, and nothing that was accepted is lost: events, results of activities and ends of children.
 * Method: the store delays the commits of one run, as a slow one does, while more messages arrive than its inbox can
 * hold.
 */
import { describe, expect, it, onTestFinished } from 'vitest';
import { observeStore } from '../../src/store/observed-store.js';
import { nameKeyOf } from '../../src/base/ids.js';
import { INBOX_BYTES_MAX, inboxBytes } from '../../src/store/records/messages.js';
import type { InstanceCommit } from '../../src/store/records/instances.js';
import { FAR_FUTURE_MS, type Store } from '../../src/store/store.js';
import type { Explanation } from '../../src/api/wire/models/explanation.js';
import { Client, fresh } from './support/client.js';
import { startServer } from './support/server.js';
import { chain, compute, step } from './support/steps.js';
import { STORE_KINDS } from './support/stores.js';

interface Scene {
  readonly client: Client;
  readonly store: Store;
  /** Delays the commits of this run. */
  hold(workflowId: string): Gate;
  /** Calls this before each commit of the run. */
  beforeCommits(workflowId: string, act: (commit: InstanceCommit) => Promise<unknown>): void;
}

interface Gate {
  readonly isHolding: () => boolean;
  /** The counter that the first delayed commit expects. */
  readonly inSeq: () => number | null;
  readonly release: () => void;
}

type BeforeCommit = (commit: InstanceCommit) => Promise<unknown>;

/** A busy machine needs a while for a megabyte. */
const PATIENCE = { timeout: 90_000, interval: 20 };

for (const { available, kind, ...stores } of STORE_KINDS) {
  const begin = async (): Promise<Scene> => {
    const created = await stores.create();
    const store = created.open();
    const before = new Map<string, BeforeCommit>();
    const gates: (() => void)[] = [];
    const server = await startServer({
      store,
      wrapStore: (inner) =>
        observeStore(inner, {
          before: async ({ args, name }) => {
            if (name !== 'commitInstance') return;
            const commit = args[0] as InstanceCommit;
            await before.get(commit.id)?.(commit);
          },
        }),
    });
    onTestFinished(async () => {
      before.clear();
      for (const open of gates) open();
      await server.stop();
      await created.remove();
    });
    const hold = (workflowId: string): Gate => {
      let open = (): void => undefined;
      const promise = new Promise<void>((resolve) => (open = resolve));
      gates.push(open);
      let expected: number | null = null;
      const wait: BeforeCommit = ({ inSeq }) => {
        expected ??= inSeq;
        return promise;
      };
      before.set(workflowId, wait);
      return {
        isHolding: () => expected !== null,
        inSeq: () => expected,
        release: () => {
          if (before.get(workflowId) === wait) before.delete(workflowId);
          open();
        },
      };
    };
    return {
      client: new Client(server.url),
      store,
      hold,
      beforeCommits: (workflowId, act) => before.set(workflowId, act),
    };
  };

  const until = (holds: () => unknown) => expect.poll(holds, PATIENCE).toBe(true);
  /** A message without meaning that fills the inbox. */
  const fill = ({ store }: Scene, instanceId: string) => {
    const message = { id: 'filler', body: `{"filler":"${'x'.repeat(INBOX_BYTES_MAX)}"}` };
    return store.postMessages([{ instanceId, message }]);
  };
  const inboxOf = async ({ store }: Scene, id: string) => (await store.getInstance(id))!.inbox;
  /** Starts a run that collects this many events in `seen`, one after another. Returns its id and the name of the events. */
  const startCollecting = async ({ client }: Scene, count: number) => {
    const name = fresh('event');
    const take = step(
      'take',
      'WaitFor',
      { EventName: `"${name}"`, EventKey: '"k"' },
      { Outputs: { seen: 'data.seen + [step.EventData]' } },
    );
    const id = await client.defineAndStart(
      [step('while', 'While', { Condition: `len(data.seen) < ${count}` }, { Do: [[take]] })],
      { seen: [] },
    );
    await client.untilWaiting(id, 'take');
    return { id, name };
  };

  describe.skipIf(!available)(`a full inbox (${kind})`, { timeout: 300_000 }, () => {
    it('loses no event, and keeps their order', async () => {
      const scene = await begin();
      const { client } = scene;
      const count = 25;
      const { id, name } = await startCollecting(scene, count);
      const gate = scene.hold(id);
      const publish = async (n: number) =>
        expect((await client.publish(name, 'k', n)).deliveredTo).toBe(1);
      await publish(0);
      await until(gate.isHolding);
      await publish(1);
      await fill(scene, id);
      for (let n = 2; n < count; n += 1) await publish(n);
      const inbox = await inboxOf(scene, id);
      expect(inbox.map((message) => message.id.split('/')[0])).toEqual([
        'event',
        'event',
        'filler',
        'overflow',
      ]);
      const { reasons } = (await client.get<Explanation>(`/api/workflow/${id}/explain`)).body;
      expect(reasons[0]?.text).toMatch(/^its inbox is full \(4 messages, 4\.\d MiB\)/);
      gate.release();
      const seen = Array.from({ length: count }, (_, n) => n);
      expect((await client.ended(id)).data).toEqual({ seen });
    });

    it('loses no event that arrives while the overflow message is being removed', async () => {
      const scene = await begin();
      const { client, store } = scene;
      const { id, name } = await startCollecting(scene, 6);
      const inSeq = async () => (await store.getInstance(id))!.inSeq;
      const gate = scene.hold(id);
      const publish = async (n: number) =>
        expect((await client.publish(name, 'k', n)).deliveredTo).toBe(1);
      await publish(0);
      await until(gate.isHolding);
      await fill(scene, id);
      await publish(1);
      const full = await inSeq();
      const second = scene.hold(id);
      gate.release();
      await until(second.isHolding);
      expect(second.inSeq()).toBe(full);
      // The commit has seen the overflow message. These do not fit either, and change nothing.
      for (const n of [2, 3, 4]) await publish(n);
      expect(await inSeq()).toBe(full);
      second.release();
      await until(async () => (await inboxOf(scene, id)).length === 0);
      await publish(5);
      expect((await client.ended(id)).data).toEqual({ seen: [0, 1, 2, 3, 4, 5] });
    });

    it('lets the run continue, however many messages arrive during each commit', async () => {
      const scene = await begin();
      const { client, store } = scene;
      const { id, name } = await startCollecting(scene, 4);
      let sent = 0;
      const body = `"${'x'.repeat(INBOX_BYTES_MAX / 16)}"`;
      scene.beforeCommits(id, async () => {
        const messages = Array.from({ length: 8 }, () => ({ id: `noise ${(sent += 1)}`, body }));
        await store.postMessages(messages.map((message) => ({ instanceId: id, message })));
      });
      for (let n = 0; n < 4; n += 1) await client.publish(name, 'k', n);
      expect((await client.ended(id)).data).toEqual({ seen: [0, 1, 2, 3] });
      expect(sent).toBeGreaterThan(16);
    });

    it("has activity results sent again when there's space", async () => {
      const scene = await begin();
      const { client } = scene;
      const name = fresh('work');
      const ask = (n: number) => [
        step(
          `ask ${n}`,
          'Activity',
          { ActivityName: `"${name}"` },
          {
            Outputs: { done: 'data.get("done", 0) + (1 if len(step.Result) == 900000 else 0)' },
          },
        ),
      ];
      const count = 12;
      const id = await client.defineAndStart(
        chain(
          step('all', 'Parallel', {}, { Do: Array.from({ length: count }, (_, n) => ask(n)) }),
          compute('end', { ended: 'True' }),
        ),
      );
      const items = await Promise.all(Array.from({ length: count }, () => client.work(name)));
      const gate = scene.hold(id);
      for (const [n, { token }] of items.entries()) {
        await client.succeed(token, 'r'.repeat(900_000));
        if (n === 0) await until(gate.isHolding);
      }
      const inbox = await inboxOf(scene, id);
      expect(inbox.some((message) => message.id === 'overflow')).toBe(true);
      expect(inbox.length).toBeLessThan(count);
      gate.release();
      expect((await client.ended(id)).data).toMatchObject({ done: count, ended: true });
    });

    it("accepts the ends of all children, and reads their data when there's space", async () => {
      const scene = await begin();
      const { client } = scene;
      const count = 8;
      const name = fresh('go');
      const child = await client.define(
        chain(
          step('wait', 'WaitFor', { EventName: `"${name}"`, EventKey: 'data.key' }),
          compute('grow', { text: '"c" * 900000' }),
        ),
      );
      const start = (n: number) => [
        step(
          `start ${n}`,
          'SubWorkflow',
          { DefinitionId: `"${child}"`, Data: { key: `k${n}` } },
          {
            Outputs: {
              done: 'data.get("done", 0) + (1 if len(step.Data["text"]) == 900000 else 0)',
            },
          },
        ),
      ];
      const id = await client.defineAndStart([
        step('all', 'Parallel', {}, { Do: Array.from({ length: count }, (_, n) => start(n)) }),
      ]);
      await until(
        async () => (await client.steps(id)).filter((s) => s.status === 'Waiting').length >= count,
      );
      const gate = scene.hold(id);
      for (let n = 0; n < count; n += 1) {
        await client.publish(name, `k${n}`, n);
        if (n === 0) await until(gate.isHolding);
      }
      const ids = async () => (await inboxOf(scene, id)).map((message) => message.id.split('/')[0]);
      const ends = Array.from({ length: count }, () => 'child');
      await expect
        .poll(async () => (await ids()).toSorted(), PATIENCE)
        .toEqual([...ends, 'overflow']);
      expect(inboxBytes(await inboxOf(scene, id))).toBeLessThan(INBOX_BYTES_MAX + 1_000_000);
      gate.release();
      expect((await client.ended(id)).data).toMatchObject({ done: count });
    });

    it('keeps the outcome of children that are purged before the run reads it', async () => {
      const scene = await begin();
      const { client, store } = scene;
      const name = fresh('go');
      const wait = step('wait', 'WaitFor', { EventName: `"${name}"`, EventKey: '"k"' });
      const definitions = await Promise.all([
        client.define(chain(wait, compute('end', { text: '"whole"' }))),
        client.define(
          chain(wait, step('end', 'Fail', { Message: '"broken"' }, { ErrorBehavior: 'Terminate' })),
        ),
      ]);
      const start = (definition: string) => [
        step(
          `start ${definition}`,
          'SubWorkflow',
          { DefinitionId: `"${definition}"`, AcceptOutcome: '["Failed"]' },
          { Outputs: { ends: 'data.ends + [[step.Outcome, step.Data]]' } },
        ),
      ];
      const id = await client.defineAndStart(
        [step('all', 'Parallel', {}, { Do: definitions.map(start) })],
        { ends: [] },
      );
      const children = async () =>
        (await store.listInstances({ filter: { parentId: id }, after: null, limit: 9 })).items
          .length;
      await until(
        async () => (await client.steps(id)).filter((s) => s.status === 'Waiting').length === 2,
      );
      const gate = scene.hold(id);
      await fill(scene, id);
      // From here on, the run reads nothing until its commit has passed.
      await until(gate.isHolding);
      await until(
        async () =>
          (await store.findSubscriptions(nameKeyOf(name, 'k'), FAR_FUTURE_MS, null, 9)).length ===
          2,
      );
      await client.publish(name, 'k', null);
      await until(async () => (await inboxOf(scene, id)).length === 4);
      const ended = { instancesEndedBefore: FAR_FUTURE_MS, untoldEndedBefore: 0 };
      const others = { eventsPublishedBefore: 0, activitiesDoneBefore: 0, limit: 9 };
      await until(async () => {
        await store.purge({ ...ended, ...others });
        return (await children()) === 0;
      });
      gate.release();
      const { ends } = (await client.ended(id)).data as { ends: unknown[] };
      expect(ends.toSorted()).toEqual([
        ['Failed', null],
        ['Succeeded', null],
      ]);
    });
  });
}
