/**
 * What the nodes and clients of one simulation share: random numbers, time, the store, the network, and the live nodes.
 */
import { AppError } from '../../../src/base/errors.js';
import type { Hint } from '../../../src/backplane/backplane.js';
import type { Host } from '../../../src/runtime/host.js';
import type { Store } from '../../../src/store/store.js';
import { fillsInboxes, isModified, isRestless, isTimed, workflowNames } from './definitions.js';
import { Archive } from './archive.js';
import { hasNotification, NotifiedTarget } from './notified.js';
import { StepTarget } from './step-target.js';
import { planOf, timedPlan, type Plan } from './plan.js';
import { Random } from './random.js';
import { Scheduler } from './scheduler.js';
import { SimulatedIds } from './simulated-ids.js';
import { ConnectionLost, SimulatedNode } from './simulated-node.js';
import { hasDebounce } from './debounced.js';
import { hasFairness, waitsByTurns } from './fair.js';
import { FairWatch } from './fair-watch.js';
import { hasPlaces } from './placed.js';
import { WindowWatch } from './window-watch.js';
import { PlaceWatch } from './place-watch.js';
import { hasQueues } from './queued.js';
import { QueueWatch } from './queue-watch.js';
import { hasSlots } from './slotted.js';
import { SlotWatch } from './slot-watch.js';
import { hasTriggers } from './triggered.js';
import { Violation } from './violation.js';

/** After such an error a client knows nothing: its request may or may not have taken effect. */
export function isUnknown(error: unknown): boolean {
  if (error instanceof ConnectionLost) return true;
  return (
    error instanceof AppError && ['store_unavailable', 'modification_pending'].includes(error.code)
  );
}

/** The request had no effect, and can be repeated. */
export function isRefused(error: unknown): boolean {
  return error instanceof AppError && ['stopping', 'overloaded'].includes(error.code);
}

export class World {
  readonly random: Random;
  readonly plan: Plan;
  readonly scheduler: Scheduler;
  readonly target: StepTarget;
  readonly store: Store;
  readonly nodes: SimulatedNode[] = [];
  /** The lease that workers request; null: none. Not drawn, because that would change the meaning of older seeds. */
  readonly leasesMs: readonly (number | null)[];
  readonly workflowNames: readonly string[];
  readonly stepsWithoutWaitMax: number;
  /** Ended instances are purged after a short while. */
  readonly removesSoon: boolean;
  readonly archive = new Archive();
  readonly ids = new SimulatedIds();
  /** Some workflows are terminated with compensation: not drawn either. */
  readonly compensates: boolean;
  readonly fillsInboxes: boolean;
  /** Somebody is told of every run that ends: not drawn either. */
  readonly isNotified: boolean;
  readonly notified = new NotifiedTarget();
  /** A definition starts runs by itself: not drawn either. */
  readonly hasTriggers: boolean;
  /** Runs wait for others with their reference: not drawn either. */
  readonly hasQueues: boolean;
  readonly queues = new QueueWatch();
  /** Runs wait for places: not drawn either. */
  readonly hasPlaces: boolean;
  readonly places = new PlaceWatch();
  /** Starts join the runs of others: not drawn either. */
  readonly hasDebounce: boolean;
  readonly windows = new WindowWatch();
  /** Steps need slots of limits: not drawn either. */
  readonly hasSlots: boolean;
  readonly slots = new SlotWatch();
  /** Runs have fairness keys: not drawn either. */
  readonly hasFairness: boolean;
  readonly waitsByTurns: boolean;
  readonly fair = new FairWatch();
  /** Clients modify runs: not drawn either. */
  readonly modifies: boolean;
  /** How often a crash or a lost response hit which store operation. */
  readonly crashPoints = new Map<string, number>();
  isCalm = false;
  violation: Violation | null = null;
  #gone = new Set<string>();
  #lives = 0;
  #losesNextAnswer = false;

  constructor(seed: number, storeFor: (world: World) => Store) {
    this.random = new Random(seed);
    const plan = planOf(this.random);
    this.removesSoon = isTimed(seed);
    this.plan = this.removesSoon ? timedPlan(plan) : plan;
    this.workflowNames = workflowNames(seed);
    // Low enough to be reached within a simulation, and more than any workflow that rests needs.
    this.stepsWithoutWaitMax = isRestless(seed) ? 250 : 10_000;
    this.compensates = isRestless(seed);
    this.modifies = isModified(seed);
    this.fillsInboxes = fillsInboxes(seed);
    this.hasTriggers = hasTriggers(seed);
    this.hasQueues = hasQueues(seed);
    this.hasPlaces = hasPlaces(seed);
    this.hasSlots = hasSlots(seed);
    // A start that is repeated when its run is purged is another one.
    this.hasDebounce = hasDebounce(seed) && !this.removesSoon;
    this.hasFairness = hasFairness(seed);
    this.waitsByTurns = waitsByTurns(seed);
    this.isNotified = hasNotification(seed);
    this.leasesMs = seed % 7 === 4 ? [1500, 5000, null] : [1500, 5000];
    this.scheduler = new Scheduler(this.random);
    this.target = new StepTarget(this.plan.failingEffects);
    this.store = storeFor(this);
  }

  violated(violation: Violation): void {
    this.violation ??= violation;
  }

  // -- nodes

  addNode(): void {
    this.#lives += 1;
    const node = new SimulatedNode(this, `n${this.#lives}`, this.store);
    this.nodes.push(node);
    this.scheduler.note(`${node.name} starts`);
    if (this.isCalm) node.skewMs = 0;
    node.start().then(
      (started) => {
        if (started) return;
        this.crash(node, 'could not start');
      },
      (error: unknown) => this.violated(asViolation('a node could not start', error)),
    );
  }

  crash(node: SimulatedNode, why: string): void {
    if (node.dead) return;
    this.scheduler.note(`${node.name} CRASHES: ${why}`);
    this.#remove(node);
    this.scheduler.end(node);
    node.hangUp();
  }

  stop(node: SimulatedNode): void {
    this.scheduler.note(`${node.name} is stopped`);
    node.isStopping = true;
    node.host.stop().then(
      () => {
        if (node.dead) return;
        this.scheduler.note(`${node.name} has stopped`);
        this.#remove(node);
        this.scheduler.end(node);
        node.hangUp();
      },
      (error: unknown) => this.violated(asViolation('a node could not stop', error)),
    );
  }

  isGone(name: string): boolean {
    return this.#gone.has(name);
  }

  #remove(node: SimulatedNode): void {
    this.#gone.add(node.name);
    this.nodes.splice(this.nodes.indexOf(node), 1);
  }

  // -- the network

  /** A hint on its way to the other nodes: it may get lost, or arrive late, twice, or after later ones. */
  spread(from: SimulatedNode, hint: Hint): void {
    if (!this.plan.hasRedis) return;
    const { hintLoss, hintRepeat } = this.plan;
    for (const node of this.nodes) {
      if (node === from) continue;
      if (!this.isCalm && this.random.chance(hintLoss)) continue;
      const copies = !this.isCalm && this.random.chance(hintRepeat) ? 2 : 1;
      for (let copy = 0; copy < copies; copy += 1) {
        this.scheduler.later(node, `${node.name} hears of ${hint.kind}`, () => node.hear(hint));
      }
    }
  }

  loseNextAnswer(): void {
    this.#losesNextAnswer = true;
  }

  losesAnswer(): boolean {
    const loses = this.#losesNextAnswer;
    this.#losesNextAnswer = false;
    return loses;
  }

  countCrashPoint(point: string): void {
    this.crashPoints.set(point, (this.crashPoints.get(point) ?? 0) + 1);
  }

  // -- clients

  /** One request to some node. It may fail in any way. */
  async ask<Value>(call: (host: Host) => Promise<Value>): Promise<Value> {
    for (;;) {
      const ready = this.nodes.filter(({ isReady, isStopping }) => isReady && !isStopping);
      if (ready.length > 0) return this.random.pick(ready).ask(call);
      await this.scheduler.pause('a client looks for a server', 300);
    }
  }

  /** Repeats the request while a server that stops, starts or has no memory rejects it, which has no effect. */
  async request<Value>(call: (host: Host) => Promise<Value>): Promise<Value> {
    for (;;) {
      try {
        return await this.ask(call);
      } catch (error) {
        if (!isRefused(error)) throw error;
      }
      await this.scheduler.pause('a client tries again', this.random.between(50, 500));
    }
  }

  /** Repeats the request until there is a response; for requests that can be repeated. */
  async persist<Value>(call: (host: Host) => Promise<Value>): Promise<Value> {
    for (;;) {
      try {
        return await this.request(call);
      } catch (error) {
        if (!isUnknown(error)) throw error;
      }
      await this.scheduler.pause('a client repeats', this.random.between(50, 500));
    }
  }
}

export function asViolation(what: string, error: unknown): Violation {
  if (error instanceof Violation) return error;
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return new Violation(`${what}: ${text}`);
}
