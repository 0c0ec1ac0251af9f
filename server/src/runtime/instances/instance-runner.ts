/**
 * Runs the instances of this node: starts new ones, wakes those that got a message or a due timer, and takes over those
 * whose node is gone.
 *
 * Owns: which instances are in memory. Must not know: what is inside an instance (`InstanceActor`), whom to take over
 * from (`TakeOver`), HTTP, workers.
 *
 *  R5 An instance is in memory at most once on a node.
 *  R6 Everything here may be forgotten at any moment: the scan of the store finds all that is due again.
 *  R7 Ownership is a preference; only the epoch in the commit decides who may write.
 *  R11 What is read from the store at the same time is bounded (`LoadGate`), and so is what is in memory (`InstanceMemory`):
 *     what finds no room waits in line, in the store. Whoever has a place in memory never waits for more while it holds
 *     that; it leaves, and comes back for all of it.
 */
import { rootOf } from '../../engine/model/child-id.js';
import type { WorkflowDefinition } from '../../engine/model/definition.js';
import { isEnded } from '../../engine/model/instance.js';
import { jsonLength } from '../../engine/values/json-length.js';
import { takeUpRun } from '../../engine/flow/lifecycle.js';
import { STATE_VERSION } from '../../engine/model/snapshot.js';
import { nextTimer } from '../../engine/flow/timers.js';
import { AppError } from '../../base/errors.js';
import type {
  DueInstance,
  InsertInstanceResult,
  InstanceRecord,
} from '../../store/records/instances.js';
import type { InboxMessage, PostedMessage } from '../../store/records/messages.js';
import type { ActorEnvironment } from './actor-environment.js';
import { TRIAL_FROM } from '../recovery/crash-trials.js';
import { DueScan } from './due-scan.js';
import { InstanceActor } from './instance-actor.js';
import { InstanceTooLargeError } from '../passes/instance-bounds.js';
import { InstanceLoads } from './instance-loads.js';
import { InstanceMemory } from '../memory/instance-memory.js';
import { InstanceStarts } from './instance-starts.js';
import { readStored } from './long-states.js';
import { recordCost } from './message-codec.js';
import type { NewInstance } from './new-instance.js';
import { PeriodicTask } from '../../base/periodic-task.js';
import { Quarantine } from '../recovery/quarantine.js';
import type { InstanceRunnerOptions } from './runner-options.js';
import type { Service } from '../../base/service.js';
import { TakeOver } from '../recovery/take-over.js';
import { UncertainWrites } from './uncertain-writes.js';
import { hasUnderWay } from './effect-runner.js';

/** Loads under way: enough to keep store and engine busy, few enough that their texts take little memory. */
const LOADS_MAX = 64;
const LOADED_LENGTH_MAX = 16 * 1024 * 1024;
/** Bytes that a start takes in memory until its first commit, for each character of its data. */
const START_COST = 4;
/** Clocks may be set back a little; what was done meanwhile is looked at again. */
const FOLLOWED_MARGIN_MS = 2000;

export class InstanceRunner implements Service {
  readonly #options: InstanceRunnerOptions;
  readonly #environment: ActorEnvironment;
  readonly #actors = new Map<string, InstanceActor>();
  readonly #starts: InstanceStarts;
  readonly #loads: InstanceLoads;
  readonly #memory: InstanceMemory;
  readonly #uncertain = new UncertainWrites();
  readonly #quarantine: Quarantine;
  readonly #takeOver: TakeOver;
  readonly #dueScan: DueScan;
  readonly #scan: PeriodicTask;
  #stopping = false;
  #leavesWork = false;
  /** A start was left to the scan since the last one began. */
  #hasLeft = false;

  constructor(options: InstanceRunnerOptions) {
    this.#options = options;
    this.#environment = options.environment;
    const { clock, store } = options.environment;
    const isStopping = (): boolean => this.#stopping;
    this.#quarantine = new Quarantine({ ...options.environment, changed: options.changed });
    const { instanceMemoryMax: bytesMax, ...limits } = options.environment.limits;
    const evict = (id: string): void => this.#evictParked(id);
    this.#memory = new InstanceMemory({ ...limits, bytesMax, evict });
    const lengthMax = Math.min(LOADED_LENGTH_MAX, bytesMax / 8);
    this.#loads = new InstanceLoads({
      ...{ environment: this.#environment, limits: { countMax: LOADS_MAX, lengthMax }, isStopping },
      memory: this.#memory,
      reload: (id) => this.#load(id),
      isHere: (id) => this.#actorOf(id) !== undefined,
      activate: (record) => this.#activate(record),
      isWorking: (id) => this.#actorOf(id)?.isParked === false,
      loaded: (id, isDone) => {
        if (isDone) this.#uncertain.read(id, clock.now());
        else this.#leavesWork = true;
      },
    });
    this.#starts = new InstanceStarts({
      ...{ environment: this.#environment, nodeId: options.nodes.id, isStopping },
      uncertain: this.#uncertain,
      isHere: (id) => this.#actorOf(id) !== undefined,
      hasRoomFor: (start) => this.#hasRoomFor(start),
      keep: (actor) => this.#keep(actor),
      forget: (actor) => this.#forget(actor),
      look: (id) => this.look(id),
      left: () => {
        this.#hasLeft = true;
        this.#takeUpLeft();
      },
      leftUnknown: () => (this.#leavesWork = true),
    });
    this.#takeOver = new TakeOver({
      ...options,
      quarantine: this.#quarantine,
      isStopping,
      isHere: (id) => this.#actorOf(id) !== undefined,
      bring: (id, load) => this.#loads.bring(id, load, 'background'),
      activate: (record) => this.#activate(record),
      load: (id) => this.#load(id),
      isNewer: (record) => this.#isNewer(record),
      waitsOutside: (id) => this.#actorOf(id)?.waitsOutside === true,
      acquitted: (id, crashes) => this.#actorOf(id)?.acquit(crashes),
      leftUnknown: () => (this.#leavesWork = true),
    });
    this.#dueScan = new DueScan({
      ...{ store, clock, isStopping, intervalMs: options.scanIntervalMs },
      concerns: (instance, now) => this.#concerns(instance, now),
      look: (instance) => this.#lookAtDue(instance),
      lookAnew: (id) => this.look(id),
    });
    this.#scan = new PeriodicTask({
      name: 'scan for due instances',
      clock: this.#environment.clock,
      logger: this.#environment.logger,
      intervalMs: options.scanIntervalMs,
      run: () => this.scan(),
    });
  }

  /** What is due, and what dead nodes left, is taken up in the background, in turns: the node is ready meanwhile. */
  start(): Promise<void> {
    this.#scan.startInBackground();
    return Promise.resolve();
  }

  /** Ends the work in hand, starts nothing new. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#scan.stop();
    this.#dueScan.stop();
    await this.#takeOver.trials.stop();
    this.#memory.stop();
    await this.#loads.ended();
    await this.#starts.ended();
    await this.#leaveAll();
    for (const actor of this.#actors.values()) actor.abandon();
    this.#actors.clear();
  }

  async #leaveAll(): Promise<void> {
    const { clock } = this.#environment;
    const late = new AbortController();
    const cancel = clock.at(clock.now() + this.#options.drainMs, () => late.abort());
    await Promise.all([...this.#actors.values()].map((actor) => actor.leave(late.signal)));
    cancel();
  }

  get inMemory(): number {
    return this.#actors.size;
  }

  /** What instances take of the memory that they may take, and how many wait for some. */
  get memory(): Pick<InstanceMemory, 'used' | 'waiting' | 'waits'> {
    return this.#memory;
  }

  /** It is in memory and in the store, and has not ended. */
  isRunning(id: string): boolean {
    const actor = this.#actorOf(id);
    return actor?.isStored === true && !isEnded(actor.run.instance);
  }

  /** Until when all that had to follow commits of this node was done; see `TakeOver`. */
  get followedUntil(): number {
    let earliest = this.#environment.clock.now();
    for (const { workingSince } of this.#actors.values()) {
      if (workingSince !== null && workingSince < earliest) earliest = workingSince;
    }
    return this.#uncertain.earliest(earliest) - FOLLOWED_MARGIN_MS;
  }

  /** When it stopped, something may have been ours that nobody was running: somebody has to take it over. */
  get leavesWork(): boolean {
    return this.#leavesWork;
  }

  /** Starts an instance. It resolves once the start is durable, usually after all that could run at once has run. */
  startInstance(start: NewInstance): Promise<InsertInstanceResult> {
    if (start.parent === null) this.#loads.served();
    return this.#starts.start(start);
  }

  /** What a client starts is begun at once or refused; what a step starts waits in the store if need be. */
  #hasRoomFor(start: NewInstance): boolean {
    const bytes = jsonLength(start.data) * START_COST;
    const rootId = start.parent === null ? null : rootOf(start);
    const comer = { id: start.id, rootId, bytes };
    if (this.#memory.tryEnter(comer)) return true;
    if (start.parent !== null) return false;
    this.#environment.metrics.memoryRefused('start');
    const message = 'The workflows in memory take all that this server may use for them';
    throw new AppError('overloaded', message, { retryAfterSeconds: 1 });
  }

  #takeUpLeft(): void {
    if (!this.#hasLeft || this.#stopping || !this.#memory.hasFreePlace) return;
    this.#hasLeft = false;
    void this.#scan.runOnce();
  }

  /** As `posted`, of a message that a client sent. */
  postedByClient(posted: PostedMessage, message: InboxMessage): void {
    this.#loads.served();
    this.posted(posted, message);
  }

  /** A message was stored for an instance: whoever runs it should know. */
  posted(posted: PostedMessage, message: InboxMessage): void {
    const actor = this.#actorOf(posted.instanceId);
    if (actor !== undefined) {
      if (actor.epoch === posted.epoch) actor.deliver({ ...message, inSeq: posted.inSeq });
      else actor.refresh();
      return;
    }
    this.#tellOwner(posted.instanceId, posted.owner);
  }

  /** The status of an instance was changed in the store. */
  controlled(record: InstanceRecord): void {
    this.#options.changed(record);
    const actor = this.#actorOf(record.id);
    this.#quarantine.forget(record.id);
    if (actor === undefined) this.#tellOwner(record.id, record.owner);
    else actor.controlled();
  }

  /** Something may have changed for this instance: it is looked at, if it is ours or nobody's. */
  look(id: string): void {
    const actor = this.#actorOf(id);
    if (actor === undefined) void this.#loads.bring(id, () => this.#load(id));
    else {
      actor.refresh();
      this.#uncertain.read(id, this.#environment.clock.now());
    }
  }

  /** Finds instances that are due before the next scan and nobody works on, so that their timers are on time. */
  async scan(): Promise<void> {
    await this.#dueScan.run();
  }

  #concerns({ id, owner, wakeAt }: DueInstance, now: number): boolean {
    if (owner !== null && this.#isElsewhere(owner)) return false;
    const actor = this.#actorOf(id);
    // Its own timer is about to wake it, or it works already.
    if (actor !== undefined && (!actor.isParked || wakeAt > now - 1000)) return false;
    return !this.#quarantine.has(id);
  }

  async #lookAtDue(instance: DueInstance): Promise<void> {
    const { id, owner } = instance;
    const actor = this.#actorOf(id);
    if (actor !== undefined) actor.refresh();
    else if (owner === this.#options.nodes.id) {
      await this.#loads.bring(id, () => this.#load(id), 'background');
    }
    // Whom the scan took for nobody's may be a node that has just come.
    else if (owner === null || (await this.#options.nodes.isGone(owner))) {
      await this.#takeOver.claim(instance);
    }
  }

  /** Takes over what a dead node had in hand. What it owned that waits is taken over when it is due. */
  async takeOver(nodeId: string): Promise<void> {
    await this.#takeOver.ofNode(nodeId);
    await this.#scan.runOnce();
  }

  /** For the environment: a commit is durable. One without crashes clears the instance of the deaths of nodes. */
  committed(actor: InstanceActor): void {
    if (this.#actorOf(actor.id) === actor) this.#memory.set(actor.id, actor.memory.stateCost);
    if (actor.crashes === 0) this.#takeOver.trials.over(actor.id);
  }

  /** For the environment: a parked actor may be forgotten, its timer may not. */
  parked(actor: InstanceActor): void {
    this.#park(actor);
    this.#takeUpLeft();
  }

  #park(actor: InstanceActor): void {
    this.#loads.rested(actor.id);
    const { trials } = this.#takeOver;
    if (actor.isDisposable) trials.over(actor.id);
    else trials.rests(actor.id);
    // Everybody is asked to leave, which those that are forgotten would miss.
    if (this.#stopping) return;
    if (isEnded(actor.run.instance) && actor.isDisposable) {
      this.#forget(actor);
      return;
    }
    if (actor.isDisposable) this.#memory.parked(actor.id);
  }

  #evictParked(id: string): void {
    const actor = this.#actorOf(id);
    if (actor?.isDisposable === true) this.#evict(actor);
  }

  /** For the environment: whether it may take so many bytes of memory. */
  mayGrow(actor: InstanceActor, bytes: number): boolean {
    return this.#actors.get(actor.id) !== actor || this.#memory.mayGrow(actor.id, bytes);
  }

  /** For the environment: an actor has given up its instance. One that was outdated is read again. */
  abandoned(actor: InstanceActor, outdated: boolean): void {
    this.#forget(actor);
    if (!outdated) return;
    // What is stored may say nothing of what is under way; a node that stops cannot look any more.
    this.#leavesWork ||= this.#stopping;
    const now = this.#environment.clock.now();
    this.#uncertain.add(actor.id, actor.workingSince ?? now, now);
    this.look(actor.id);
  }

  /** For the environment: an instance that cannot be run is suspended, with the reason where users see it. */
  async failed(actor: InstanceActor, error: unknown): Promise<void> {
    this.#forget(actor);
    const { logger, store } = this.#environment;
    const isTooLarge = error instanceof InstanceTooLargeError;
    if (!isTooLarge) {
      logger.error({ workflowId: actor.id, err: error }, 'an instance cannot be run');
    }
    const record = await store.getInstance(actor.id);
    if (record === null || record.epoch !== actor.epoch) return;
    if (isTooLarge) await this.#suspend(record, 'InstanceTooLarge', error.message);
    else {
      const message = 'the server could not run this instance; its log says why';
      await this.#suspend(record, 'EngineError', message);
    }
  }

  /** Answers the instance if it is ours, or was claimed. */
  async #load(id: string): Promise<InstanceRecord | null> {
    const record = await this.#environment.store.getInstance(id);
    if (record === null || this.#isNewer(record)) return null;
    const { nodes } = this.#options;
    const { owner } = record;
    if (owner === nodes.id) {
      if (record.crashes < TRIAL_FROM) return record;
      // Its claim was for a trial, and the answer got lost.
      this.#takeOver.trials.add(id, null);
      return null;
    }
    const wasKnown = owner !== null && nodes.isKnown(owner);
    if (owner === null || (await nodes.isGone(owner))) return this.#takeOver.claimNow(record);
    // Whoever asked for this look took it for nobody's. Only then: a hint makes every node look.
    if (!wasKnown) this.#options.hintOwner(id);
    return null;
  }

  async #activate(record: InstanceRecord): Promise<void> {
    if (this.#actorOf(record.id) !== undefined) return;
    if (this.#stopping) {
      this.#leavesWork = true;
      return;
    }
    const find = this.#options.findDefinition;
    const definition = await this.#quarantine.definitionOf(record, find);
    if (definition !== null) await this.#wakeUp(record, definition);
  }

  /** What a newer server has written is left alone, unclaimed, for a node that knows it. */
  #isNewer({ id, schemaVersion }: InstanceRecord): boolean {
    if (schemaVersion <= STATE_VERSION) return false;
    this.#quarantine.leave(id);
    this.#environment.logger.error(
      { workflowId: id, schemaVersion, known: STATE_VERSION },
      'this instance was written by a newer server; left alone',
    );
    return true;
  }

  async #wakeUp(record: InstanceRecord, definition: WorkflowDefinition): Promise<void> {
    let actor: InstanceActor;
    try {
      const instance = await readStored(record);
      const run = takeUpRun(definition, instance, this.#environment.clock.now());
      const { epoch, inSeq, revision, status } = record;
      actor = new InstanceActor(this.#environment, run, {
        stored: { epoch, inSeq, revision, status },
        state: record.state,
        crashes: record.crashes,
      });
    } catch (error) {
      this.#environment.logger.error({ workflowId: record.id, err: error }, 'unreadable state');
      await this.#suspend(record, 'UnreadableState', 'the stored state cannot be read');
      return;
    }
    if (this.#actorOf(record.id) !== undefined) return;
    this.#dueScan.cancel(record.id);
    this.#keep(actor);
    this.#memory.seat({
      id: record.id,
      rootId: record.rootId ?? record.id,
      bytes: recordCost(record),
    });
    // A wake time that has passed is replaced by a commit, or the scan would find it again and again.
    const isDue = record.wakeAt !== null && record.wakeAt <= this.#environment.clock.now();
    const isMarked = record.underWay && !hasUnderWay(actor.run.instance);
    actor.takeOver(record.inbox, isDue || isMarked || record.crashes > 0);
    actor.wake();
  }

  #suspend(record: InstanceRecord, type: string, message: string): Promise<void> {
    return this.#quarantine.suspend(record, { type, message });
  }

  #evict(actor: InstanceActor): void {
    const timer = nextTimer(actor.run);
    this.#forget(actor);
    actor.abandon();
    if (timer !== null) this.#dueScan.setTimer(actor.id, timer);
  }

  /** The actor that runs an instance here. One that has given it up does not stand in the way of another. */
  #actorOf(id: string): InstanceActor | undefined {
    const actor = this.#actors.get(id);
    return actor?.isAbandoned === true ? undefined : actor;
  }

  #keep(actor: InstanceActor): void {
    // In the place of one that has given up its instance.
    this.#actors.set(actor.id, actor);
  }

  #forget(actor: InstanceActor): void {
    if (this.#actors.get(actor.id) !== actor) return;
    this.#actors.delete(actor.id);
    this.#memory.forget(actor.id);
    this.#rested(actor.id);
  }

  /** It has done its first work after it was loaded. */
  #rested(id: string): void {
    this.#loads.rested(id);
    this.#takeOver.trials.over(id);
  }

  /** What is not in memory here is another node's to look at, or else ours. */
  #tellOwner(id: string, owner: string | null): void {
    this.#quarantine.forget(id);
    if (owner !== null && this.#isElsewhere(owner)) this.#options.hintOwner(id);
    else this.look(id);
  }

  #isElsewhere(owner: string): boolean {
    const { nodes } = this.#options;
    return owner !== nodes.id && nodes.isAlive(owner);
  }
}
