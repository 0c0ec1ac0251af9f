/**
 * One simulation: a few nodes on one store, with clients and workers, faults for a while, then quiet until everything
 * is at rest. Its seed determines all of it.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { parseDefinition } from '../../../src/engine/definitions/parse-definition.js';
import { INBOX_BYTES_MAX } from '../../../src/store/records/messages.js';
import type { Store } from '../../../src/store/store.js';
import { checkEnd, reasonForUnrest } from './checker.js';
import { WORKFLOWS } from './definitions.js';
import { DEBOUNCED, DebounceClient } from './debounced.js';
import { monitorStore } from './monitored-store.js';
import { addNotification } from './notified.js';
import { FAIR, FAIR_WORK, FairClient } from './fair.js';
import { monitorFairness } from './fair-watch.js';
import { PLACED, PlaceClient } from './placed.js';
import { QUEUED, QueueClient } from './queued.js';
import { Scenario } from './scenarios.js';
import { monitorSlots } from './slot-monitor.js';
import { createSimulatedStore } from './simulated-store.js';
import { SlotClient, SLOTTED } from './slotted.js';
import { isTask, type Task } from './scheduler.js';
import { TRIGGERED, TriggerClient } from './triggered.js';
import { Violation } from './violation.js';
import { AcceptedResults, SimulatedWorker, WORK } from './worker.js';
import { asViolation, World } from './world.js';

export interface SimulationResult {
  readonly seed: number;
  readonly hash: string;
  readonly steps: number;
  readonly crashPoints: ReadonlyMap<string, number>;
  /** The violation, with the end of the trace; null if there was none. */
  readonly violation: string | null;
}

/** Everything must be at rest this long after the last fault. */
const REST_WITHIN_MS = 120_000;
/** A message whose attempts were lost in faults waits for minutes. */
const MESSAGES_REST_WITHIN_MS = 1_200_000;
const STEPS_MAX = 60_000;
/** The retention and the interval of the housekeeping, with some tolerance. */
const REMOVED_WITHIN_MS = 60_000;
const WORKERS = 2;
/** How often a message without meaning fills an inbox. */
const FILL_CHANCE = 0.05;
/** Most of it is a string, which takes little time to skip. */
const FILLER = `x"${'x'.repeat(INBOX_BYTES_MAX)}"`;
/** Writes that may reach the store long after their caller has given up. */
const MAY_ARRIVE_LATE: ReadonlySet<string> = new Set(['commitInstance', 'putNode']);

const VERSIONS = Object.values(WORKFLOWS).flatMap(({ document, olderDocument }) =>
  olderDocument === undefined ? [document] : [olderDocument, document],
);
const DOCUMENTS = VERSIONS.map((document) => {
  const { canonical, definition, errors } = parseDefinition(document);
  if (definition === null || errors.length > 0) throw new Error(JSON.stringify(errors));
  return { id: definition.id, description: null, body: JSON.stringify(canonical), createdAt: 0 };
});

/** `spoil` removes a safeguard, to show that the simulation notices. */
export async function simulate(
  seed: number,
  spoil: (store: Store) => Store = (store) => store,
): Promise<SimulationResult> {
  const world = new World(seed, (self) =>
    monitorStore(monitorFairness(monitorSlots(spoil(createSimulatedStore(seed)), self), self), {
      archive: self.archive,
      queues: self.queues,
      places: self.places,
      windows: self.windows,
      violated: (violation) => self.violated(violation),
    }),
  );
  const { scheduler } = world;
  // A pass measures itself with the real clock, so that the machine would influence it.
  const realNow = performance.now.bind(performance);
  let passMs = 0;
  let readings = 0;
  performance.now = () => {
    readings += 1;
    return (passMs += world.random.chance(world.plan.slowPasses) ? 60 : 0);
  };
  try {
    await new Simulation(world).run();
  } catch (error) {
    world.violated(asViolation('the simulation failed', error));
  } finally {
    await untilUnread(() => readings);
    performance.now = realNow;
  }
  const { crashPoints, violation } = world;
  const lines = [`seed ${seed}`, JSON.stringify(world.plan), ...scheduler.lastLines];
  return {
    seed,
    hash: scheduler.hash,
    steps: scheduler.steps,
    crashPoints,
    violation:
      violation === null ? null : `${violation.message}\n${lines.join('\n')}\n${violation.message}`,
  };
}

/**
 * Waits until the nodes no longer read the time. A heartbeat, for one, measures the delay of the event loop with its next
 * turn: in the next simulation, it would draw from that one's random numbers.
 */
async function untilUnread(readings: () => number): Promise<void> {
  for (let quietTurns = 0, seen = readings(); quietTurns < 3;) {
    await nextTurn();
    quietTurns = readings() === seen ? quietTurns + 1 : 0;
    seen = readings();
  }
}

class Simulation {
  readonly #world: World;
  readonly #scenarios: Scenario[] = [];
  readonly #accepted = new AcceptedResults();
  readonly #triggers: TriggerClient | null;
  readonly #queues: QueueClient | null;
  readonly #places: PlaceClient | null;
  readonly #slots: SlotClient | null;
  readonly #debounced: DebounceClient | null;
  readonly #fair: FairClient | null;
  #playing = 0;
  #isOver = false;

  constructor(world: World) {
    this.#world = world;
    this.#triggers = world.hasTriggers ? new TriggerClient(world) : null;
    this.#queues = world.hasQueues ? new QueueClient(world) : null;
    this.#places = world.hasPlaces ? new PlaceClient(world) : null;
    this.#debounced = world.hasDebounce ? new DebounceClient(world) : null;
    this.#slots = world.hasSlots ? new SlotClient(world) : null;
    this.#fair = world.hasFairness ? new FairClient(world) : null;
  }

  async run(): Promise<void> {
    const { plan, scheduler, store } = this.#world;
    for (const document of DOCUMENTS) await store.insertDefinition(document, null);
    if (this.#world.isNotified) await addNotification(store);
    for (let node = 0; node < plan.nodes; node += 1) this.#world.addNode();
    this.#admitClients();
    while (scheduler.steps < plan.chaosSteps && this.#world.violation === null) {
      this.#disturb();
      this.#release();
      await scheduler.settle();
    }
    this.#endFaults();
    await this.#comeToRest();
    this.#isOver = true;
    if (this.#world.removesSoon) await this.#untilPurged();
    if (this.#world.violation !== null) return;
    await checkEnd(this.#world, {
      scenarios: this.#scenarios,
      accepted: this.#accepted,
      triggers: this.#triggers,
      queues: this.#queues,
      places: this.#places,
      slots: this.#slots,
      debounced: this.#debounced,
      fair: this.#fair,
    });
  }

  #admitClients(): void {
    const world = this.#world;
    for (let index = 0; index < world.plan.scenarios; index += 1) {
      const scenario = new Scenario(world, index);
      this.#scenarios.push(scenario);
      this.#play(scenario.name, scenario.play());
    }
    if (this.#triggers !== null) this.#play(TRIGGERED, this.#triggers.play());
    if (this.#queues !== null) this.#play(QUEUED, this.#queues.play());
    if (this.#places !== null) this.#play(PLACED, this.#places.play());
    if (this.#debounced !== null) this.#play(DEBOUNCED, this.#debounced.play());
    if (this.#slots !== null) this.#play(SLOTTED, this.#slots.play());
    if (this.#fair !== null) this.#play(FAIR, this.#fair.play());
    for (let index = 0; index < WORKERS; index += 1) this.#employ(`worker ${index}`, WORK);
    if (this.#fair !== null) this.#employ('fair worker', FAIR_WORK);
  }

  #employ(name: string, activity: string): void {
    const isOver = (): boolean => this.#isOver;
    const worker = new SimulatedWorker(this.#world, { name, activity }, this.#accepted, isOver);
    worker.work().catch((error: unknown) => this.#world.violated(asViolation('a worker', error)));
  }

  #play(name: string, client: Promise<void>): void {
    this.#playing += 1;
    client.then(
      () => (this.#playing -= 1),
      (error: unknown) => this.#world.violated(asViolation(`a client of ${name}`, error)),
    );
  }

  /** Faults, and nodes that come back after them. */
  #disturb(): void {
    const world = this.#world;
    const { nodes, plan, random, scheduler } = world;
    if (nodes.length < plan.nodes && random.chance(0.03)) world.addNode();
    if (world.fillsInboxes && random.chance(FILL_CHANCE)) this.#fillInbox();
    if (nodes.length === 0) return;
    if (random.chance(plan.crash)) this.#crash();
    if (random.chance(plan.stop)) {
      const node = random.pick(world.nodes.length > 0 ? world.nodes : [null]);
      if (node?.isReady === true && !node.isStopping) world.stop(node);
    }
    if (world.nodes.length === 0) return;
    if (random.chance(plan.cutOff)) {
      const node = random.pick(nodes);
      node.cutOffUntil = scheduler.now + random.between(500, 12_000);
      scheduler.note(`${node.name} is cut off from the store`);
    }
    if (random.chance(plan.jump)) {
      const node = random.pick(nodes);
      node.skewMs += random.pick([-20_000, -1000, 1000, 20_000]);
      scheduler.note(`the clock of ${node.name} jumps`);
    }
  }

  /** Nobody is told of the filler: it is in the way of the messages that follow. */
  #fillInbox(): void {
    const { random, scheduler, store } = this.#world;
    const [instanceId] = [...random.pick(this.#scenarios).started];
    if (instanceId === undefined) return;
    const message = { id: `filler ${scheduler.steps}`, body: FILLER };
    scheduler.note(`the inbox of ${instanceId} is filled`);
    store.postMessages([{ instanceId, message }]).catch((error: unknown) => {
      this.#world.violated(asViolation('an inbox could not be filled', error));
    });
  }

  /** A node dies before one of its store calls, or while the store carries it out. */
  #crash(): void {
    const { nodes, random, scheduler } = this.#world;
    const { calls } = scheduler;
    const call = calls.length > 0 ? random.pick(calls) : null;
    const node = nodes.find((candidate) => candidate === call?.life) ?? random.pick(nodes);
    const isCarriedOut = call !== null && random.chance(0.5);
    const where = isCarriedOut ? 'after' : 'before';
    const name = call === null ? 'idle' : operationOf(call);
    this.#world.countCrashPoint(`crash ${where} ${name}`);
    this.#world.crash(node, `${where} ${call?.label ?? 'anything'}`);
    if (isCarriedOut) call.go();
  }

  /** Lets one thing happen. */
  #release(): void {
    const world = this.#world;
    const { isCalm, plan, random, scheduler } = world;
    const lets = !isCalm && random.chance(plan.advance);
    const picked = lets ? null : scheduler.pick();
    if (picked === null) {
      const lateMs = random.chance(0.2) ? random.below(isCalm ? 100 : 3000) : 0;
      scheduler.advance(lateMs);
      return;
    }
    scheduler.note(picked.label);
    if (!isTask(picked)) picked.callback();
    else if (picked.kind === 'call' && !isCalm) this.#carryOut(picked);
    else picked.go();
  }

  #carryOut(call: Task): void {
    const world = this.#world;
    const { plan, random, scheduler } = world;
    const isCutOff = (call.life?.cutOffUntil ?? 0) > scheduler.now;
    if (!isCutOff && !random.chance(plan.storeFault)) {
      call.go();
    } else if (random.chance(0.5)) {
      scheduler.note(`${call.label} fails`);
      const operation = operationOf(call);
      world.countCrashPoint(`fault before ${operation}`);
      call.fail();
      const { late } = call;
      if (late === undefined || !MAY_ARRIVE_LATE.has(operation) || random.chance(0.5)) return;
      world.countCrashPoint(`late ${operation}`);
      scheduler.later(null, `${call.label} comes late`, late);
    } else {
      world.countCrashPoint(`fault after ${operationOf(call)}`);
      world.loseNextAnswer();
      call.go();
    }
  }

  /** No more faults: clocks are right, the store responds, all nodes are there. */
  #endFaults(): void {
    const world = this.#world;
    world.scheduler.note('QUIET from here on');
    world.isCalm = true;
    for (const node of world.nodes) {
      node.skewMs = 0;
      node.cutOffUntil = 0;
    }
    const wanted = world.random.between(1, world.plan.nodes);
    const staying = world.nodes.filter(({ isStopping }) => !isStopping).length;
    for (let count = staying; count < wanted; count += 1) world.addNode();
  }

  async #comeToRest(): Promise<void> {
    const world = this.#world;
    const { scheduler } = world;
    const restMs = world.isNotified ? MESSAGES_REST_WITHIN_MS : REST_WITHIN_MS;
    const deadline = scheduler.now + restMs;
    for (let turn = 1; world.violation === null; turn += 1) {
      this.#release();
      await scheduler.settle();
      if (turn % 25 !== 0) continue;
      const why =
        this.#playing > 0 ? 'clients that were not answered' : await reasonForUnrest(world);
      if (why === null) return;
      if (scheduler.now > deadline || scheduler.steps > STEPS_MAX) {
        world.violated(new Violation(`I7 everything comes to rest: ${why}${await this.#open()}`));
      }
    }
  }

  /** Time passes until all ended instances are purged. */
  async #untilPurged(): Promise<void> {
    const world = this.#world;
    const { scheduler, store } = world;
    const deadline = scheduler.now + REMOVED_WITHIN_MS;
    const all = { filter: {}, after: null, limit: 1 };
    while (world.violation === null && (await store.listInstances(all)).items.length > 0) {
      this.#release();
      await scheduler.settle();
      if (scheduler.now <= deadline) continue;
      world.violated(new Violation(`I8 what has ended is removed: ${await this.#open()}`));
    }
  }

  async #open(): Promise<string> {
    const { store } = this.#world;
    const { items: page } = await store.listInstances({ filter: {}, after: null, limit: 100 });
    return page
      .filter(({ endTime, wakeAt }) => endTime === null || wakeAt !== null)
      .map((record) => `\n${JSON.stringify(record)}`)
      .join('');
  }
}

/** From a label such as `n1 commitInstance 0123`. */
function operationOf(call: Task): string {
  return call.label.split(' ')[1] ?? '';
}
