/**
 * Runs the instances of this node: starts new ones, wakes instances with a message or a due timer, and takes over the instances
 * of dead nodes.
 *
 * Must not know: the content of an instance (`InstanceActor`), the set of instances in memory (`ResidentSet`), how instances are
 * started (`InstanceCreator`) or loaded (`InstanceLoader`), who does the work of a change (`ChangeDispatch`), the choice of nodes
 * to take over from (`TakeOver`), HTTP, workers.
 *
 *  R5 An instance is in memory at most once on a node.
 *  R6 All state in memory may be lost at any moment: the scan of the store finds everything due again.
 *  R7 Ownership is a preference; only the epoch in the commit decides who may write.
 *  R11 Concurrent reads from the store are bounded (`LoadGate`), and so is the memory of instances (`InstanceMemory`).
 *      Instances beyond these bounds queue, and stay in the store. An instance that holds memory never waits for more of it: it
 *      leaves memory first, and queues for the whole amount.
 */
import { isEnded } from '../../engine/model/instance.js';
import { PeriodicTask } from '../../base/periodic-task.js';
import type { Service } from '../../base/service.js';
import type { DueInstance, InstanceSummary } from '../../store/records/instances.js';
import type { InboxMessage } from '../../store/records/messages.js';
import type { MessageClaimer, PostedMessage } from '../../store/records/posted-messages.js';
import type { InstanceMemory } from '../memory/instance-memory.js';
import { Quarantine } from './quarantine.js';
import { TakeOver } from './take-over.js';
import { ChangeDispatch } from './change-dispatch.js';
import { DueScan } from './due-scan.js';
import type { ActorOwner, InstanceActor } from './instance-actor.js';
import type { StartResult } from './first-insertion.js';
import { InstanceLoader } from './instance-loader.js';
import { InstanceLoads, type LoadPriority } from './instance-loads.js';
import { InstanceCreator } from './instance-creator.js';
import type { NewInstance } from '../instance-state/new-instance.js';
import { ResidentSet } from './resident-set.js';
import type { RunnerEnvironment } from './runner-environment.js';
import type { InstanceRunnerOptions } from './runner-options.js';
import { UncertainWrites } from './uncertain-writes.js';
import type { UnsavedChanges } from '../instance-state/unsaved-changes.js';

/** Maximum number of concurrent loads: enough to keep the store and the engine busy, few enough to need little memory. */
const LOADS_MAX = 256;
const LOADED_LENGTH_MAX = 16 * 1024 * 1024;
/** Clocks may be set back a little: work done within this margin is checked again. */
const FOLLOWED_MARGIN_MS = 2000;
/** How long the timer of an instance in memory may be late before the scan wakes the instance. */
const TIMER_MARGIN_MS = 1000;

export class InstanceRunner implements Service, ActorOwner {
  readonly #options: InstanceRunnerOptions;
  readonly #environment: RunnerEnvironment;
  readonly #residents: ResidentSet;
  readonly #uncertain = new UncertainWrites();
  readonly #quarantine: Quarantine;
  readonly #loader: InstanceLoader;
  readonly #loads: InstanceLoads;
  readonly #dispatch: ChangeDispatch;
  readonly #starts: InstanceCreator;
  readonly #takeOver: TakeOver;
  readonly #dueScan: DueScan;
  readonly #scan: PeriodicTask;
  #stopping = false;
  #hasUnfinishedWork = false;
  /** True if a start was left to the scan since the last scan began. */
  #hasUnstarted = false;
  readonly #isStopping = (): boolean => this.#stopping;
  readonly #markUnfinished = (): void => {
    this.#hasUnfinishedWork = true;
  };

  constructor(options: InstanceRunnerOptions) {
    this.#options = options;
    const { environment } = options;
    this.#environment = environment;
    this.#quarantine = new Quarantine({
      ...environment,
      announce: (instance) => environment.announce(instance),
      sendOutbox: (instance, message) => environment.sendOutbox(instance, message),
      changed: options.changed,
    });
    this.#residents = new ResidentSet({
      limits: environment.limits,
      removed: (id) => this.#rested(id),
      evicted: (id, dueAt) => this.#dueScan.setTimer(id, dueAt),
    });
    this.#loader = this.#createLoader();
    this.#loads = this.#createLoads();
    this.#dispatch = this.#createDispatch();
    this.#starts = this.#createStarts();
    this.#takeOver = this.#createTakeOver();
    this.#dueScan = new DueScan({
      store: environment.store,
      clock: environment.clock,
      isStopping: this.#isStopping,
      intervalMs: options.scanIntervalMs,
      concerns: (instance, now) => this.#concerns(instance, now),
      check: (instance) => this.#lookAtDue(instance),
      recheck: (id) => this.check(id),
    });
    this.#scan = new PeriodicTask({
      name: 'scan for due instances',
      clock: environment.clock,
      logger: environment.logger,
      intervalMs: options.scanIntervalMs,
      run: () => this.scan(),
    });
  }

  /**
   * Handles due instances and the work of dead nodes in the background, in turns, so that the node is ready immediately.
   */
  start(): Promise<void> {
    this.#scan.startInBackground();
    return Promise.resolve();
  }

  /** Finishes the current work without starting new work. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#scan.stop();
    this.#dueScan.stop();
    await this.#takeOver.trials.stop();
    this.#residents.memory.stop();
    await this.#loads.ended();
    await this.#starts.ended();
    await this.#leaveAll();
    this.#residents.abandonAll();
  }

  async #leaveAll(): Promise<void> {
    const { clock } = this.#environment;
    const late = new AbortController();
    const cancel = clock.at(clock.now() + this.#options.drainMs, () => late.abort());
    await Promise.all([...this.#residents.all()].map((actor) => actor.leave(late.signal)));
    cancel();
  }

  get inMemory(): number {
    return this.#residents.size;
  }

  /** The memory that instances use, and the number of instances waiting for memory. */
  get memory(): Pick<InstanceMemory, 'used' | 'waiting' | 'waits'> {
    return this.#residents.memory;
  }

  /** True if the instance is in memory and in the store, and its end is still to be committed. */
  isRunning(id: string): boolean {
    const actor = this.#residents.get(id);
    return actor?.isStored === true && !isEnded({ status: actor.storedStatus });
  }

  /** The time up to which the follow-up work of this node's commits is complete; see `TakeOver`. */
  get followedUntil(): number {
    let earliest = this.#environment.clock.now();
    for (const { workingSince } of this.#residents.all()) {
      if (workingSince !== null && workingSince < earliest) earliest = workingSince;
    }
    return this.#uncertain.earliest(earliest) - FOLLOWED_MARGIN_MS;
  }

  /** True if this node, when it stopped, may have owned an instance that wasn't running: another node must take it over. */
  get hasUnfinishedWork(): boolean {
    return this.#hasUnfinishedWork;
  }

  /** Starts an instance. Resolves once the start is durable, usually after the first pass. */
  startInstance(start: NewInstance): Promise<StartResult> {
    if (start.parent === null) this.#loads.served();
    return this.#starts.create(start);
  }

  /** Like `posted`, for a message from a client. */
  postedByClient(posted: PostedMessage, message: InboxMessage): void {
    this.#loads.served();
    this.posted(posted, message);
  }

  /** See `ChangeDispatch`. */
  get claimer(): MessageClaimer | undefined {
    return this.#dispatch.claimer;
  }

  /** Finds idle instances that become due before the next scan, so that their timers fire on time. */
  async scan(): Promise<void> {
    await this.#dueScan.run();
  }

  /** Takes over the active instances of a dead node. Its waiting instances are taken over when they become due. */
  async takeOver(nodeId: string): Promise<void> {
    await this.#takeOver.ofNode(nodeId);
    await this.#scan.runOnce();
  }

  /** See `ChangeDispatch`. */
  posted(posted: PostedMessage, message: InboxMessage): void {
    this.#dispatch.posted(posted, message);
  }

  /** Called when the status of an instance was changed in the store. */
  controlled(record: InstanceSummary): void {
    this.#options.changed(record);
    this.#dispatch.controlled(record);
  }

  /** Called for a hint of another node. */
  heard(hint: { readonly id: string; readonly owner?: string }): void {
    this.#dispatch.heard(hint);
  }

  /** The instance may have changed: checks it if this node owns it or if it has no owner. */
  check(id: string): void {
    this.#dispatch.check(id);
  }

  // -- reports from actors

  /** Called when a commit is durable. A commit without crashes clears the instance's crash history. */
  committed(actor: InstanceActor, saved: UnsavedChanges): void {
    this.#residents.grown(actor);
    if (actor.crashes === 0) this.#takeOver.trials.over(actor.id);
    this.#options.committed(actor.session.instance, saved, actor.committedAt, actor.workingSince);
  }

  /** Called when an actor is parked. It may be evicted, but its timer must remain. */
  parked(actor: InstanceActor): void {
    this.#loads.rested(actor.id);
    const { trials } = this.#takeOver;
    if (actor.isDisposable) trials.over(actor.id);
    else trials.rests(actor.id);
    // When the node stops, it asks every actor to leave. It would miss actors evicted here.
    if (this.#stopping) return;
    this.#residents.parked(actor);
    this.#scanForUnstarted();
  }

  mayGrow(actor: InstanceActor, bytes: number): boolean {
    return this.#residents.mayGrow(actor, bytes);
  }

  /** An outdated instance is read again. */
  abandoned(actor: InstanceActor, isOutdated: boolean): void {
    this.#residents.forget(actor);
    if (!isOutdated) return;
    // The stored state may not show work in progress, and a stopping node can no longer check.
    this.#hasUnfinishedWork ||= this.#stopping;
    const now = this.#environment.clock.now();
    this.#uncertain.add(actor.id, actor.workingSince ?? now, now);
    this.check(actor.id);
  }

  /** Suspends an instance that cannot run, with the reason where users see it. */
  async failed(actor: InstanceActor, error: unknown): Promise<void> {
    this.#residents.forget(actor);
    const suspend = (): Promise<void> => this.#quarantine.suspendFailed(actor, error);
    try {
      await this.#environment.retryStore(suspend, () => false);
    } catch (failure) {
      // This node ignores it from now on; the next one tries again.
      this.#quarantine.leave(actor.id);
      const fields = { workflowId: actor.id, err: failure };
      this.#environment.logger.error(fields, 'could not suspend an instance that cannot run');
    }
  }

  // -- dispatch

  #load(id: string, lane: LoadPriority = 'foreground'): Promise<void> {
    return this.#loads.bring(id, () => this.#loader.load(id), lane);
  }

  /** Loads the starts that were only stored for lack of memory, once memory is available. */
  #scanForUnstarted(): void {
    if (!this.#hasUnstarted || this.#stopping || !this.#residents.memory.hasFreePlace) return;
    this.#hasUnstarted = false;
    void this.#scan.runOnce();
  }

  #concerns({ id, owner, wakeAt }: DueInstance, now: number): boolean {
    if (owner !== null && this.#dispatch.isElsewhere(owner)) return false;
    const actor = this.#residents.get(id);
    // The instance's own timer is about to wake it, or it is already working.
    if (actor !== undefined && (!actor.isParked || wakeAt > now - TIMER_MARGIN_MS)) return false;
    return !this.#quarantine.has(id);
  }

  async #lookAtDue(instance: DueInstance): Promise<void> {
    const { id, owner } = instance;
    const { nodes } = this.#options;
    const actor = this.#residents.get(id);
    if (actor !== undefined) actor.refresh();
    else if (owner === nodes.id) await this.#load(id, 'background');
    // An owner unknown to the scan may be a node that has just started.
    else if (owner === null || (await nodes.isGone(owner))) await this.#takeOver.claim(instance);
  }

  /** The instance has finished its first work after the load, or has left memory. */
  #rested(id: string): void {
    this.#loads.rested(id);
    this.#takeOver.trials.over(id);
  }

  // -- construction

  #createLoader(): InstanceLoader {
    const { findDefinition, hintOwner, nodes } = this.#options;
    return new InstanceLoader({
      environment: this.#environment,
      owner: this,
      nodes,
      residents: this.#residents,
      quarantine: this.#quarantine,
      takeOver: () => this.#takeOver,
      findDefinition,
      hintOwner,
      isStopping: this.#isStopping,
      unfinished: this.#markUnfinished,
      coming: (id) => this.#dueScan.cancel(id),
    });
  }

  #createLoads(): InstanceLoads {
    const { clock, limits } = this.#environment;
    const lengthMax = Math.min(LOADED_LENGTH_MAX, limits.instanceMemoryMax / 8);
    return new InstanceLoads({
      environment: this.#environment,
      limits: { countMax: LOADS_MAX, lengthMax },
      memory: this.#residents.memory,
      isStopping: this.#isStopping,
      reload: (id) => this.#loader.load(id),
      isHere: (id) => this.#residents.has(id),
      activate: (record) => this.#loader.activate(record),
      isWorking: (id) => this.#residents.get(id)?.isParked === false,
      loaded: (id, isDone) => {
        if (isDone) this.#uncertain.read(id, clock.now());
        else this.#hasUnfinishedWork = true;
      },
    });
  }

  #createDispatch(): ChangeDispatch {
    const { hintOwner, inboxOverflowed, nodes } = this.#options;
    return new ChangeDispatch({
      clock: this.#environment.clock,
      loader: this.#loader,
      loads: this.#loads,
      nodes,
      quarantine: this.#quarantine,
      residents: this.#residents,
      uncertain: this.#uncertain,
      hintOwner,
      inboxOverflowed,
      isStopping: this.#isStopping,
    });
  }

  #createStarts(): InstanceCreator {
    return new InstanceCreator({
      environment: this.#environment,
      owner: this,
      nodeId: this.#options.nodes.id,
      residents: this.#residents,
      uncertain: this.#uncertain,
      isStopping: this.#isStopping,
      check: (id) => this.check(id),
      storedUnstarted: () => {
        this.#hasUnstarted = true;
        this.#scanForUnstarted();
      },
      maybeUnfinished: this.#markUnfinished,
    });
  }

  #createTakeOver(): TakeOver {
    const { crashesMax, nodes } = this.#options;
    return new TakeOver({
      environment: this.#environment,
      nodes,
      crashesMax,
      quarantine: this.#quarantine,
      isStopping: this.#isStopping,
      isHere: (id, epoch) => this.#dispatch.currentActor(id, epoch) !== undefined,
      bring: (id, load) => this.#loads.bring(id, load, 'background'),
      activate: (record) => this.#loader.activate(record),
      load: (id) => this.#loader.load(id),
      isNewer: (record) => this.#loader.isNewer(record),
      waitsForResponse: (id) => this.#residents.get(id)?.waitsForResponse === true,
      cleared: (id, crashes) => this.#residents.get(id)?.clearSuspicion(crashes),
      maybeUnfinished: this.#markUnfinished,
    });
  }
}
