/**
 * `pnpm bench:fleet [--nodes=1,10,100] [--rates=0,200] [--seconds=30]`: what a fleet asks of its database, counted.
 *
 * Whole nodes run in this process in real time, on one store in memory. Everything they send to the store is counted, and
 * so are the notifications of the backplane for PostgreSQL. At a rate above 0, that many workflows a second start on
 * arbitrary nodes: of ten, six have three steps, two wait for a worker, one for an event and one for a second.
 *
 * The counts are the result; the speed of this process says nothing about a fleet.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { HttpClient } from '../../../e2e/bench/http-client.js';
import {
  defineRuns,
  newLoad,
  startAtRate,
  workUntilOver,
  type MixedLoad,
  type RunKind,
} from '../../../e2e/bench/mixed-runs.js';
import { createPostgresBackplane } from '../../src/backplane/postgres/postgres-backplane.js';
import { createLogger } from '../../src/base/logger.js';
import { composeServer } from '../../src/compose-server.js';
import { readConfig } from '../../src/config/read-config.js';
import { createMemoryStore } from '../../src/store/memory/memory-store.js';
import type { Store } from '../../src/store/store.js';
import { CountedStore } from './support/counted-store.js';
import { NotificationHub } from './support/notification-hub.js';
import { createSimulatedScripts } from './support/simulated-scripts.js';

/** Longer than the lease: by then every node knows all others. */
const WARM_UP_MS = 15_000;
const WORKERS = 32;
const MIX: readonly RunKind[] = [
  'three',
  'activity',
  'three',
  'event',
  'three',
  'delay',
  'three',
  'activity',
  'three',
  'three',
];

const { values } = parseArgs({
  options: {
    nodes: { type: 'string', default: '1,10,100' },
    rates: { type: 'string', default: '0,200' },
    seconds: { type: 'string', default: '30' },
  },
});
const seconds = Number(values.seconds);
const numbers = (list: string): readonly number[] => list.split(',').map(Number);
for (const nodes of numbers(values.nodes)) {
  for (const rate of numbers(values.rates)) await measure(nodes, rate);
}

interface RunningNode {
  readonly client: HttpClient;
  stop(): Promise<void>;
}

async function measure(count: number, rate: number): Promise<void> {
  const hub = new NotificationHub();
  const store = new CountedStore(createMemoryStore());
  const nodes: RunningNode[] = [];
  for (let n = 0; n < count; n += 1) nodes.push(await startNode(store, hub));
  const load = newLoad();
  const running = rate === 0 ? Promise.resolve() : runLoad(nodes, rate, load);
  await setTimeout(WARM_UP_MS);
  const before = { store: store.snapshot(), hub: hub.snapshot(), started: load.started };
  await setTimeout(seconds * 1000);
  const after = { store: store.snapshot(), hub: hub.snapshot(), started: load.started };
  load.isOver = true;
  await running;
  await Promise.all(nodes.map((node) => node.stop()));
  const perSecond = (of: (counts: typeof after) => number): string =>
    ((of(after) - of(before)) / seconds).toFixed(1).padStart(12);
  console.log(`\n${count} nodes, ${rate} workflows a second asked for`);
  console.log(
    `${perSecond(({ started }) => started)} workflows a second, ${load.failed} failed calls`,
  );
  console.log(`${perSecond((counts) => counts.store.statements)} statements a second at most`);
  console.log(`${perSecond((counts) => counts.store.bytesIn)} bytes a second to the store`);
  console.log(`${perSecond((counts) => counts.store.bytesOut)} bytes a second from the store`);
  console.log(`${perSecond((counts) => counts.hub.statements)} statements a second that notify`);
  console.log(`${perSecond((counts) => counts.hub.notifications)} notifications a second`);
  console.log(`${perSecond((counts) => counts.hub.bytes)} bytes of notifications a second`);
  console.log(`${perSecond((counts) => counts.hub.deliveries)} notifications a second to nodes`);
  for (const name of Object.keys(after.store.calls).sort()) {
    console.log(`${perSecond((counts) => counts.store.calls[name] ?? 0)}   ${name}`);
  }
}

async function startNode(counted: CountedStore, hub: NotificationHub): Promise<RunningNode> {
  const logger = createLogger({ level: 'silent' });
  let name = '';
  const { app, host } = await composeServer({
    config: readConfig({}),
    environment: {},
    logger,
    store: counted.store,
    wrapStore: (store) => onMachineOf(store, () => name),
    scripts: createSimulatedScripts(() => null),
    createBackplane: ({ nodeId }) => {
      name = nodeId;
      return createPostgresBackplane({
        connect: () => hub.connect(),
        notify: (_channel, payloads) => hub.notify(payloads),
        channel: 'fleet',
        nodeId,
        logger,
      });
    },
  });
  await host.start();
  const http = createServer(app);
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  // A server that listens on a port has an address of this type.
  const { port } = http.address() as AddressInfo;
  const client = new HttpClient(`http://127.0.0.1:${port}`);
  return {
    client,
    async stop() {
      client.close();
      await host.stop();
      http.close();
      http.closeAllConnections();
    },
  };
}

/** The nodes share a process, which would make each believe that the others have ended. */
function onMachineOf(store: Store, ownId: () => string): Store {
  return {
    ...store,
    // The data outlives each node.
    stop: () => Promise.resolve(),
    listNodes: async () =>
      (await store.listNodes()).map((node) =>
        node.id === ownId() ? node : { ...node, hostname: node.id },
      ),
  };
}

async function runLoad(
  nodes: readonly RunningNode[],
  rate: number,
  load: MixedLoad,
): Promise<void> {
  const pick = (): HttpClient => anyOf(nodes);
  await defineRuns(pick());
  await Promise.all([
    startAtRate(pick, { load, mix: MIX, rate }),
    ...Array.from({ length: WORKERS }, () => workUntilOver(pick, load)),
  ]);
}

function anyOf(nodes: readonly RunningNode[]): HttpClient {
  const node = nodes[Math.floor(Math.random() * nodes.length)];
  if (node === undefined) throw new RangeError('There is no node');
  return node.client;
}
