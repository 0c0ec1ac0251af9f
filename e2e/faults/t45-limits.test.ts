import { describe, expect, it } from 'vitest';
import { definition } from './support/definitions.js';
import { eventually } from './support/eventually.js';
import { callOf, putLimit, readLimits } from './support/limited/limited-runs.js';
import { limitedStorm } from './support/limited/limited-storm.js';
import { LimitedTarget } from './support/limited/limited-target.js';
import { PersistentClient } from './support/persistent-client.js';
import { scaled } from './support/random.js';
import { untilEnded } from './support/until-ended.js';
import { withFleet } from './support/with-fleet.js';
import type { Instance } from './support/wire.js';

const IS_ALL = process.env['FAULTS'] === 'all';
const STORM = { runs: scaled(18), kills: scaled(2) };
/** The runs go on when the call has ended. */
const WAIT = {
  Id: 'wait',
  StepType: 'WaitFor',
  Inputs: { EventName: '"go"', EventKey: '"all"' },
};
/** In which a change takes effect, on a busy machine. */
const CHANGE_MS = 60_000;
const GROUP = '/one/all';
const FLEETS = [
  { store: 'sqlite', count: 1 },
  { store: 'postgres', count: 2 },
  { store: 'mongo', count: 2 },
] as const;

interface Calls {
  readonly count: number;
  readonly ledger: string;
  /** The steps that follow. */
  readonly then?: Parameters<typeof definition>[1];
}

/** Starts runs of a definition with one limited call. */
async function startCalls(
  client: PersistentClient,
  { count, ledger, then = [] }: Calls,
): Promise<readonly string[]> {
  const body = definition('one', [callOf('one', '"all"', ['one']), ...then]);
  await client.call('POST', '/api/definition', { body });
  const ids: string[] = [];
  for (let n = 0; n < count; n += 1) {
    const started = { body: { name: `run-${n}`, ledger } };
    const answer = await client.call('POST', '/api/workflow/one', started);
    ids.push((answer.body as Instance).workflowId);
  }
  return ids;
}

describe.each(IS_ALL ? FLEETS : FLEETS.slice(0, 2))(
  'T-45 a fleet with limits, $count x $store',
  ({ count, store }) => {
    it('exceeds no limit and frees every slot, whichever process is killed and when', async () => {
      await withFleet({ count, store }, async (scene) => {
        console.log(`T-45 ${count} x ${store}`, await limitedStorm(scene, STORM));
      });
    });

    it.runIf(IS_ALL || count > 1)(
      'lets waiting steps go when one node raises a limit, and interrupts nothing when another lowers it',
      async () => {
        await withFleet({ count, store }, async ({ fleet, ledger }) => {
          const clientOf = (index: number): PersistentClient =>
            new PersistentClient(() => [fleet.node(index % count).url]);
          const target = new LimitedTarget(ledger);
          target.hold();
          await putLimit(clientOf(0), 'one', { concurrency: 2 });
          const client = new PersistentClient(() => fleet.urls);
          const ids = await startCalls(client, { count: 7, ledger: ledger.url, then: [WAIT] });
          const isUsed = (held: number, waiting: number) =>
            eventually(
              `${held} are held and ${waiting} wait`,
              async () => {
                const [limit] = await readLimits(client);
                const inProgress = target.inProgress(GROUP);
                return limit?.held === held && limit.waiting === waiting && inProgress === held;
              },
              CHANGE_MS,
            );
          await isUsed(2, 5);
          await putLimit(clientOf(1), 'one', { concurrency: 4 });
          await isUsed(4, 3);
          await putLimit(clientOf(0), 'one', { concurrency: 1 });
          // Those that have begun go on, and the next one waits for the last of them.
          target.release(3);
          await isUsed(1, 3);
          expect(target.most(GROUP)).toBe(4);
          const since = target.moment;
          target.release();
          await isUsed(1, 2);
          await fleet.kill(0);
          await fleet.restart(0);
          await isUsed(1, 2);
          for (let waiting = 1; waiting >= 0; waiting -= 1) {
            target.release();
            await isUsed(1, waiting);
          }
          target.release();
          await isUsed(0, 0);
          await client.call('POST', '/api/event/go/all', { body: {} });
          for (const id of ids) {
            expect(await untilEnded(client, id)).toMatchObject({ status: 'Complete' });
          }
          expect(target.most(GROUP, since)).toBe(1);
          expect(await readLimits(client)).toMatchObject([{ held: 0, waiting: 0, keys: [] }]);
        });
      },
    );

    const stops = IS_ALL ? ['has stopped', 'stopped unseen'] : ['stopped unseen'];
    it.runIf(count > 1).each(stops)('begins steps that waited for a node that %s', async (how) => {
      await withFleet({ count, store }, async ({ fleet, ledger }) => {
        if (how === 'stopped unseen') {
          // The heir is alone when it starts, so it reads the nodes rarely.
          for (const index of [0, 1]) await fleet.drain(index);
          for (const index of [1, 0]) await fleet.restart(index);
        }
        const stopping = fleet.node(0);
        const [client, heir] = [stopping, fleet.node(1)].map(
          ({ url }) => new PersistentClient(() => [url]),
        ) as [PersistentClient, PersistentClient];
        const target = new LimitedTarget(ledger);
        target.hold();
        await putLimit(client, 'one', { concurrency: 1, rate: { count: 1, per: '2s' } });
        const [first] = await startCalls(client, { count: 1, ledger: ledger.url });
        await eventually('the first has begun', () => target.inProgress(GROUP) === 1);
        const others = await startCalls(heir, { count: 2, ledger: ledger.url });
        const stopped = fleet.drain(0);
        const isReady = async (): Promise<boolean> =>
          (await fetch(`${stopping.url}/health/ready`)).ok;
        await eventually('it stops', async () => !(await isReady().catch(() => false)));
        target.release();
        await stopped;
        for (let n = 0; n < others.length; n += 1) {
          await eventually('the next has begun', () => target.inProgress(GROUP) === 1);
          target.release();
        }
        for (const id of [first ?? '', ...others]) {
          expect(await untilEnded(heir, id)).toMatchObject({ status: 'Complete' });
        }
        expect(target.most(GROUP)).toBe(1);
      });
    });

    it.runIf(IS_ALL || count === 1)(
      'begins steps that waited for a rate when all nodes died',
      async () => {
        await withFleet({ count, store }, async ({ fleet, ledger }) => {
          const client = new PersistentClient(() => fleet.urls);
          const target = new LimitedTarget(ledger);
          await putLimit(client, 'one', { rate: { count: 1, per: '2s' } });
          const ids = await startCalls(client, { count: 3, ledger: ledger.url });
          await Promise.race(ids.map((id) => untilEnded(client, id)));
          const nodes = Array.from({ length: count }, (_, index) => index);
          await Promise.all(nodes.map((index) => fleet.kill(index)));
          await Promise.all(nodes.map((index) => fleet.restart(index)));
          for (const id of ids) {
            expect(await untilEnded(client, id)).toMatchObject({ status: 'Complete' });
          }
          expect(target.arrivals(GROUP)).toHaveLength(3);
        });
      },
    );
  },
);
