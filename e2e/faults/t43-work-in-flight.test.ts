import { setImmediate, setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { Bookings } from './support/undoing/bookings.js';
import { checkUndoing, type CheckOptions, type Kill } from './support/undoing/check-undoing.js';
import { OutsideServices, type Phase } from './support/undoing/outside-services.js';
import { LEASE_SECONDS, WorkerProcesses } from './support/worker-processes.js';
import type { Fleet } from './support/fleet.js';
import { PersistentClient } from './support/persistent-client.js';
import { scaled, shuffled, type Random } from './support/random.js';
import { withFleet } from './support/with-fleet.js';

const IS_ALL = process.env['FAULTS'] === 'all';
const LANES = 4;
/** Without a kill, every outcome must be known. */
const QUIET_RUNS = 4;
/** How often each of the kills is made. */
const ROUNDS = IS_ALL ? 5 : 1;
const WORKERS_PER_NODE = 2;
/** The death of a node is noticed at once, because its process is gone. */
const NODE_LEASE_MS = 60_000;
const LEASES_MS = { worker: LEASE_SECONDS * 1000, node: NODE_LEASE_MS };
const LATER_MS_MAX = 250;
const BY_DAY: readonly PlannedKill[] = [
  { of: 'worker', phase: 'refusal' },
  { of: 'node', phase: 'effect' },
  { of: 'node', phase: 'refusal' },
  { of: 'node', phase: 'undo' },
];
const BY_NIGHT: readonly PlannedKill[] = [
  ...BY_DAY,
  { of: 'worker', phase: 'effect' },
  { of: 'worker', phase: 'undo' },
  { of: 'worker', phase: 'settled' },
  { of: 'node', phase: 'settled' },
];
/** Turns of the event loop in which everything is read that a dead process has sent. */
const TURNS = 10;

const FLEETS = [
  { store: 'sqlite', count: 1 },
  { store: 'sqlite', count: 2 },
  { store: 'postgres', count: 2 },
  { store: 'mongo', count: 2 },
] as const;

interface PlannedKill {
  readonly of: Kill['of'];
  readonly phase: Phase;
}

interface Storm {
  readonly fleet: Fleet;
  readonly services: OutsideServices;
  readonly workers: WorkerProcesses;
  readonly random: Random;
  readonly kills: Kill[];
}

/** Kills processes, one at a time, each a short time after the next call of a phase. */
async function kill(storm: Storm): Promise<void> {
  const { fleet, kills, random, services, workers } = storm;
  const round = (): PlannedKill[] => (IS_ALL ? shuffled(random, BY_NIGHT) : [...BY_DAY]);
  const all = Array.from({ length: scaled(ROUNDS) }, round).flat();
  for (const { of, phase } of all) {
    await services.next(phase);
    await setTimeout(random() * LATER_MS_MAX);
    const from = Date.now();
    const noteKill = async (): Promise<void> => {
      for (let turn = 0; turn < TURNS; turn += 1) await setImmediate();
      kills.push({ of, from, to: Date.now() });
    };
    if (of === 'worker') {
      await workers.replace(Math.floor(random() * workers.count));
      await noteKill();
      continue;
    }
    const victim = Math.floor(random() * fleet.size);
    await fleet.kill(victim);
    await noteKill();
    const { url } = await fleet.restart(victim);
    for (let at = victim; at < workers.count; at += fleet.size) workers.follow(at, url);
  }
}

describe.each(IS_ALL ? FLEETS : FLEETS.slice(0, 1))(
  'T-43 work in flight on $count x $store',
  ({ count, store }) => {
    it('is waited for and undone once, whichever process is killed and when', async () => {
      const settings = { NODE_LEASE_MS: String(NODE_LEASE_MS) };
      await withFleet({ count, store, settings }, async ({ fleet, ledger, random }) => {
        const services = new OutsideServices(ledger, random);
        const workers = new WorkerProcesses(ledger.url);
        const client = new PersistentClient(() => fleet.urls);
        const bookings = new Bookings({ client, services, random });
        const kills: Kill[] = [];
        const options = { client, services, kills, leasesMs: LEASES_MS };
        try {
          await bookings.define();
          for (let n = 0; n < count * WORKERS_PER_NODE; n += 1) {
            await workers.add(fleet.node(n % count).url);
          }
          await bookings.runWhile((started) => started < QUIET_RUNS, LANES);
          await expectUndone(bookings, options);
          let isOver = false;
          const storm = kill({ fleet, services, workers, random, kills }).finally(() => {
            isOver = true;
          });
          await Promise.all([storm, bookings.runWhile(() => !isOver, LANES)]);
          console.log(`T-43 ${count} x ${store}`, summaryOf(bookings, services, kills));
          await expectUndone(bookings, options);
          expect(fleet.faults).toEqual([]);
        } finally {
          await workers.stop();
        }
      });
    });
  },
);

async function expectUndone({ ended }: Bookings, options: CheckOptions): Promise<void> {
  const violations = new Set<string>();
  for (const booking of ended) {
    for (const violation of await checkUndoing(booking, options)) violations.add(violation);
  }
  expect([...violations], [...violations].join('\n')).toEqual([]);
}

function summaryOf(
  { ended }: Bookings,
  services: OutsideServices,
  kills: readonly Kill[],
): Readonly<Record<string, number>> {
  const known = ended.map(({ name }) => services.of(name));
  const undos = known.flatMap(({ undos }) => [...undos.values()]);
  const outcomes = undos.map(([undo]) => undo?.outcome);
  return {
    runs: ended.length,
    kills: kills.length,
    undone: undos.length,
    unknown: outcomes.filter((outcome) => outcome === 'Unknown').length,
    undoneAgain: undos.filter(({ length }) => length > 1).length,
    samples: ended.flatMap(({ samples }) => samples).length,
  };
}
