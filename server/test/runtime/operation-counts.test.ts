/**
 * Goal: the store operations of a run stay what they were designed to be.
 * Method: a whole server on SQLite, and on MongoDB and PostgreSQL if available; counts everything that reaches the store.
 */
import { setTimeout } from 'node:timers/promises';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StoreCall } from '../../src/store/observed-store.js';
import type { InsertInstance, InstanceCommit } from '../../src/store/records/instances.js';
import { fresh, type Client } from '../behavior/support/client.js';
import { eventually } from '../../../sdk/test/support/eventually.js';
import { chain, compute, step } from '../behavior/support/steps.js';
import { callsPerSecond } from './support/call-rate.js';
import {
  COUNTED,
  CountedServer,
  HOUSEKEEPING,
  MONGO_READS,
  MONGO_WRITES,
  POSTGRES_STATEMENTS,
} from './support/counted-server.js';

/** Index fields that change with commits, and tags, add no operation. */
const INDEXED = { Index: { n: 'data.n', y: 'data.y', r: 'data.r' }, Tags: { team: 'a' } };

/** Writes and reads of a run that waits for an event. */
const EVENT_MAXIMA = { sqlite: [3, 1], memory: [3, 1], postgres: [3, 2], mongo: [4, 3] } as const;

describe.each(COUNTED)('store operations on $kind', (counted) => {
  const { available, kind } = counted;
  let server: CountedServer;
  let client: Client;

  beforeAll(async () => {
    if (!available) return;
    server = await CountedServer.start(counted);
    ({ client } = server);
  });
  afterAll(async () => {
    if (available) await server.stop();
  });

  const during: CountedServer['during'] = (something) => server.during(something);
  const fewest: CountedServer['fewest'] = (...args) => server.fewest(...args);

  describe.skipIf(!available)('the number per workload', { timeout: 120_000 }, () => {
    it('is at most two writes for a start with three pure steps, and no read once the definition is cached', async () => {
      const Steps = chain(
        compute('a', { x: 'data.n' }),
        step('b', 'EmitLog', { Message: 'data.x' }),
        compute('c', { y: '5' }),
      );
      const definition = await client.define({ ...INDEXED, Steps });
      await client.ended(await client.start(definition, { n: 1 }));
      const start = () => client.start(definition, { n: 1 });
      const { reads, writes } = await during(start);
      expect(reads).toEqual([]);
      expect(writes.length).toBeLessThanOrEqual(2);
      // The end is known from memory, whether the caller waits for it or asks later.
      const withEnd = await during(async () => client.ended(await start()));
      expect(withEnd.reads).toEqual([]);
      if (kind === 'postgres') expect(await fewest(start, POSTGRES_STATEMENTS)).toHaveLength(1);
      if (kind !== 'mongo') return;
      expect(await fewest(start, MONGO_READS)).toEqual([]);
      expect((await fewest(start, MONGO_WRITES)).length).toBeLessThanOrEqual(2);
    });

    it.each([
      ['a worker that is already waiting', true],
      ['a worker that comes later', false],
    ])(
      'is at most seven writes and one read for an activity from start to end, with %s',
      async (_, waits) => {
        const name = fresh('work');
        const Steps = [
          step('ask', 'Activity', { ActivityName: `"${name}"` }, { Outputs: { r: 'step.Result' } }),
        ];
        const definition = await client.define({ ...INDEXED, Steps });
        const roundTrip = async (): Promise<void> => {
          const poll = waits ? client.work(name) : null;
          if (waits) {
            await eventually('one poll is waiting', async () => {
              const { text } = await client.get('/metrics');
              return text.includes('\nstepwright_pollers 1\n');
            });
          }
          const id = await client.start(definition);
          await client.succeed((await (poll ?? client.work(name))).token, 1);
          expect((await client.ended(id)).data).toEqual({ r: 1 });
        };
        await roundTrip();
        const { reads, writes } = await during(roundTrip);
        expect(writes.length).toBeLessThanOrEqual(7);
        // The caller that waits for the end may be too late for it, and then reads once. The other read is for the
        // metrics.
        const looks = reads.filter((read) => read !== 'statistics');
        expect(looks.length, looks.join(' ')).toBeLessThanOrEqual(1);
        if (kind === 'mongo') {
          expect((await fewest(roundTrip, MONGO_WRITES)).length).toBeLessThanOrEqual(7);
          if (waits) return;
          // And a worker's search for an item, and for its instance.
          expect((await fewest(roundTrip, MONGO_READS)).length).toBeLessThanOrEqual(3);
        }
      },
    );

    it('is at most three writes and one read for an event that wakes a run, on PostgreSQL three and two, on MongoDB four and three', async () => {
      const name = fresh('event');
      const definition = await client.define([
        step(
          'wait',
          'WaitFor',
          { EventName: `"${name}"`, EventKey: 'data.key' },
          { Outputs: { e: 'step.EventData' } },
        ),
      ]);
      const roundTrip = async (): Promise<void> => {
        const key = randomUUID();
        const id = await client.start(definition, { key });
        await client.publish(name, key, 1);
        await client.ended(id);
      };
      await roundTrip();
      const { reads, writes } = await during(roundTrip);
      // SQLite stores the run and looks at the events in one step, and stores and delivers the event in another.
      const [writesMax, readsMax] = EVENT_MAXIMA[kind];
      // Many events are marked as delivered together, a little later: some of these may be earlier ones.
      const own = writes.filter((write) => write !== 'markEventsDelivered');
      expect(own.length, own.join(' ')).toBeLessThanOrEqual(writesMax);
      // The triggers on the event. PostgreSQL: the earlier events. MongoDB: those, and the subscriptions for this one.
      expect(reads.length, reads.join(' ')).toBeLessThanOrEqual(readsMax);
      if (kind !== 'postgres') return;
      // The start, the search for earlier events, the triggers, the event with its message, the commit, and the mark.
      expect((await fewest(roundTrip, POSTGRES_STATEMENTS)).length).toBeLessThanOrEqual(6);
    });

    it('does not grow with the iterations of a While of 10,000 iterations, nor does the document', async () => {
      const definition = await client.define([
        step(
          'loop',
          'While',
          { Condition: 'data.n < data.turns' },
          { Do: [[compute('more', { n: 'data.n + 1' })]] },
        ),
      ]);
      const callsBefore = server.calls.length;
      const id = await client.start(definition, { n: 0, turns: 10_000 });
      const ended = await untilEnded(client, id);
      expect(ended).toMatchObject({ status: 'Complete', data: { n: 10_000 } });
      const made = server.calls.slice(callsBefore);
      const commits = commitsOf(made, id);
      // The number of iterations per commit depends on the machine; that each is in the history once does not.
      const [inserted] = made.filter(({ name }) => name === 'insertInstance');
      // The first iterations run before the insertion.
      const writes = [inserted!.args[0] as InsertInstance, ...commits];
      const records = writes.reduce((sum, { side }) => sum + side.history.length, 0);
      expect(records).toBeGreaterThan(9900);
      expect(records).toBeLessThanOrEqual(10_001);
      expect(commits.length).toBeLessThan(2000);
      // The loop itself needs no other operations: the rest is the start, the wait for the end, and the heartbeat of
      // the node.
      expect(made.length - commits.length).toBeLessThan(100);
      // The newest 64 records and the open pointers, however many iterations there were before.
      expect(Math.max(...commits.map(({ state }) => state.length))).toBeLessThan(20_000);
    });

    it('does not grow with the items of a sequential Foreach of 5,000', async () => {
      const definition = await client.define([
        step(
          'each',
          'Foreach',
          { Collection: 'list(range(data.items))', RunParallel: false },
          {
            Do: [[compute('sum', { sum: 'data.sum + context.Item' })]],
          },
        ),
      ]);
      const run = async (items: number): Promise<number> => {
        const callsBefore = server.calls.length;
        const id = await client.start(definition, { sum: 0, items });
        expect((await untilEnded(client, id)).data).toMatchObject({
          sum: (items * (items - 1)) / 2,
        });
        const seen = server.calls
          .slice(callsBefore)
          .filter(
            ({ args, name }) =>
              !HOUSEKEEPING.has(name) && JSON.stringify(args[0] ?? '').includes(id),
          );
        return seen.filter((call) => call.kind === 'write').length;
      };
      const few = await run(500);
      const many = await run(5000);
      // Ten times the items in at most ten times the writes, with tolerance for a busy machine.
      expect(many).toBeLessThanOrEqual(20 * (few + 1));
      expect(many).toBeLessThan(1000);
    });

    it('stays far below one per item in a parallel Foreach over 2,000 items', async () => {
      const definition = await client.define([
        step(
          'each',
          'Foreach',
          { Collection: 'list(range(2000))' },
          { Do: [[compute('c', { n: 'data.n + 1' })]] },
        ),
      ]);
      const callsBefore = server.calls.length;
      const id = await client.start(definition, { n: 0 });
      expect((await untilEnded(client, id)).data).toEqual({ n: 2000 });
      expect(commitsOf(server.calls.slice(callsBefore), id).length).toBeLessThan(400);
    });

    it('is at most one operation, and two statements, per second for fifty waiting polls on an idle node', async () => {
      const gone = new AbortController();
      const polls = Array.from({ length: 50 }, (_, n) =>
        client
          .call('GET', `/api/activity/idle-${n % 10}?timeout=60`, { signal: gone.signal })
          .catch(() => undefined),
      );
      await eventually('50 polls are waiting', async () => {
        const { text } = await client.get('/metrics');
        return text.includes('\nstepwright_pollers 50\n');
      });
      await eventually('all polls have looked for work', () => {
        const last = server.calls.findLast(({ name }) => name === 'claimActivity');
        return last !== undefined && server.unfinished === 0 && Date.now() - last.at > QUIET_MS;
      });
      const [callsBefore, commandsBefore] = [server.calls.length, server.commands.length];
      // Counting for a while is the purpose; there is no condition to wait for.
      await setTimeout(IDLE_SECONDS * 1000);
      const seen = server.calls.slice(callsBefore);
      expect(seen.length).toBeGreaterThan(0);
      const rate = callsPerSecond(seen, server.calls.slice(0, callsBefore), IDLE_SECONDS);
      expect(rate, seen.map(({ name }) => name).join(' ')).toBeLessThanOrEqual(1);
      if (kind === 'postgres') {
        const statements = server.commands.length - commandsBefore;
        expect(statements).toBeGreaterThan(0);
        expect(statements / IDLE_SECONDS).toBeLessThanOrEqual(2);
      }
      gone.abort();
      await Promise.all(polls);
    });
  });
});

/** As long as the longest interval of the frequent tasks, so that each of them occurs. */
const IDLE_SECONDS = 16;
/** Polls that have just arrived look for work at about the same time. */
const QUIET_MS = 2000;

async function untilEnded(
  client: Client,
  id: string,
): Promise<Awaited<ReturnType<Client['ended']>>> {
  for (let n = 0; n < 5; n += 1) {
    const { body } = await client.get<Awaited<ReturnType<Client['ended']>>>(
      `/api/workflow/${id}?wait=20`,
    );
    if (body.endTime !== null) return body;
  }
  return client.ended(id);
}

function commitsOf(calls: readonly StoreCall[], id: string): readonly InstanceCommit[] {
  return calls
    .filter(({ name }) => name === 'commitInstance')
    .map(({ args }) => args[0] as InstanceCommit)
    .filter((commit) => commit.id === id);
}
