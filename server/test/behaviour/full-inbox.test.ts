/**
 * Goal: an inbox is limited, and nothing that was accepted is lost: events, results of activities and ends of children.
 * Method: the store delays the commits of one run, as a slow one does, while more messages arrive than its inbox can
 * hold.
 */
import { describe, expect, it, onTestFinished } from 'vitest';
import { observeStore } from '../../src/store/observed-store.js';
import { INBOX_BYTES_MAX, inboxBytes } from '../../src/store/records/messages.js';
import type { InstanceCommit } from '../../src/store/records/instances.js';
import type { Store } from '../../src/store/store.js';
import { Client, fresh } from './support/client.js';
import { startServer } from './support/server.js';
import { chain, compute, step } from './support/steps.js';
import { STORE_KINDS } from './support/stores.js';

interface Scene {
  readonly client: Client;
  readonly store: Store;
  /** Delays the commits of this run. */
  hold(workflowId: string): { readonly isHolding: () => boolean; readonly release: () => void };
}

/** A busy machine needs a while for a megabyte. */
const PATIENCE = { timeout: 90_000, interval: 20 };

for (const { available, kind, ...stores } of STORE_KINDS) {
  const begin = async (): Promise<Scene> => {
    const created = await stores.create();
    const store = created.open();
    const held = new Map<string, { wait: Promise<void>; isHolding: boolean; open: () => void }>();
    const server = await startServer({
      store,
      wrapStore: (inner) =>
        observeStore(inner, {
          before: ({ args, name }) => {
            const gate = name === 'commitInstance' && held.get((args[0] as InstanceCommit).id);
            if (gate === undefined || gate === false) return;
            gate.isHolding = true;
            return gate.wait;
          },
        }),
    });
    onTestFinished(async () => {
      for (const { open } of held.values()) open();
      held.clear();
      await server.stop();
      await created.remove();
    });
    return {
      client: new Client(server.url),
      store,
      hold(workflowId) {
        let open = (): void => undefined;
        const wait = new Promise<void>((resolve) => (open = resolve));
        const gate = { isHolding: false, wait, open };
        held.set(workflowId, gate);
        return {
          isHolding: () => gate.isHolding,
          release: () => {
            held.delete(workflowId);
            gate.open();
          },
        };
      },
    };
  };

  const until = (holds: () => unknown) => expect.poll(holds, PATIENCE).toBe(true);
  /** A message without meaning that fills the inbox. */
  const fill = ({ store }: Scene, instanceId: string) => {
    const message = { id: 'filler', body: `{"filler":"${'x'.repeat(INBOX_BYTES_MAX)}"}` };
    return store.postMessages([{ instanceId, message }]);
  };
  const inboxOf = async ({ store }: Scene, id: string) => (await store.getInstance(id))!.inbox;

  describe.skipIf(!available)(`a full inbox (${kind})`, { timeout: 300_000 }, () => {
    it('loses no event, and keeps their order', async () => {
      const scene = await begin();
      const { client } = scene;
      const name = fresh('event');
      const count = 25;
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
      gate.release();
      const seen = Array.from({ length: count }, (_, n) => n);
      expect((await client.ended(id)).data).toEqual({ seen });
    });

    it('has results of activities sent again when there is room', async () => {
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

    it('accepts the ends of all children, and reads their data when there is room', async () => {
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
  });
}
