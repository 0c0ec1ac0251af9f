/**
 * Runs the instances of this node: starts new ones, wakes those that got a message or a due timer, and takes over those
 * whose node is gone.
 *
 * Owns: which instances are in memory. Must not know: what is inside an instance (`InstanceActor`), HTTP, workers.
 *
 *  R5 An instance is in memory at most once on a node.
 *  R6 Everything here may be forgotten at any moment: the scan of the store finds all that is due again.
 *  R7 Ownership is a preference; only the epoch in the commit decides who may write.
 */
import type { WorkflowDefinition } from '../engine/definition.js';
import { isEnded } from '../engine/instance.js';
import { startRun, takeUpRun } from '../engine/lifecycle.js';
import type { Run } from '../engine/run.js';
import { readState, STATE_VERSION } from '../engine/snapshot.js';
import { nextTimer } from '../engine/timers.js';
import { AppError } from '../errors.js';
import {
  StoreUnavailableError,
  type DueInstance,
  type InboxMessage,
  type InsertInstanceResult,
  type InstanceRecord,
  type InstanceSummary,
  type PostedMessage,
} from '../store/store.js';
import type { ActorEnvironment } from './actor-environment.js';
import { FirstInsertion } from './first-insertion.js';
import { InstanceActor } from './instance-actor.js';
import { InstanceTooLargeError } from './instance-bounds.js';
import { newRecord, type NewInstance } from './new-instance.js';
import type { NodeRegistry } from './node-registry.js';
import { hasSurvived, setAsideCommit } from './set-aside-state.js';
import { PeriodicTask } from './periodic-task.js';
import type { Service } from './service.js';

/** A first pass that takes longer than this is not waited for: the start is stored as it was. */
const FIRST_PASS_MS_MAX = 25;
const SCAN_LIMIT = 500;
/** A write that was given up may still arrive at the store for so long. */
const LATE_WRITE_MS = 10_000;
/** What a scan may come later than planned. */
const SCAN_MARGIN_MS = 1000;

export interface InstanceRunnerOptions {
  readonly environment: ActorEnvironment;
  readonly nodes: NodeRegistry;
  readonly findDefinition: (id: string, version: number) => Promise<WorkflowDefinition | null>;
  /** Tells the node that owns an instance to look at it. */
  readonly hintOwner: (instanceId: string) => void;
  /** The status of an instance was changed in the store, by whomever. */
  readonly changed: (record: InstanceSummary) => void;
  readonly scanIntervalMs: () => number;
  /** How long calls to the outside that are under way may take to end when the node stops. */
  readonly drainMs: number;
  /** An instance that was taken over from dead nodes so often, without a commit in between, is set aside. */
  readonly crashesMax: number;
}

export class InstanceRunner implements Service {
  readonly #options: InstanceRunnerOptions;
  readonly #environment: ActorEnvironment;
  /** Least recently used first. */
  readonly #actors = new Map<string, InstanceActor>();
  /** Starts under way, by id of the instance. */
  readonly #starting = new Map<string, Promise<InsertInstanceResult>>();
  readonly #loading = new Map<string, Promise<unknown>>();
  /** Timers of instances that are not in memory. */
  readonly #timers = new Map<string, () => void>();
  readonly #setAside = new Set<string>();
  readonly #scan: PeriodicTask;
  #stopping = false;
  #leavesWork = false;

  constructor(options: InstanceRunnerOptions) {
    this.#options = options;
    this.#environment = options.environment;
    this.#scan = new PeriodicTask({
      name: 'scan for due instances',
      clock: this.#environment.clock,
      logger: this.#environment.logger,
      intervalMs: options.scanIntervalMs,
      run: () => this.scan(),
    });
  }

  async start(): Promise<void> {
    await this.#scan.start();
  }

  /** Ends the work in hand, starts nothing new. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#scan.stop();
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
    await Promise.all([...this.#loading.values()]);
    await Promise.allSettled([...this.#starting.values()]);
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

  /** It is in memory and in the store, and has not ended. */
  isRunning(id: string): boolean {
    const actor = this.#actorOf(id);
    return actor?.isStored === true && !isEnded(actor.run.instance);
  }

  /** When it stopped, something may have been ours that nobody was running: somebody has to take it over. */
  get leavesWork(): boolean {
    return this.#leavesWork;
  }

  /** Starts an instance. It resolves once the start is durable, usually after all that could run at once has run. */
  async startInstance(start: NewInstance): Promise<InsertInstanceResult> {
    const { id } = start;
    // Two at a time for one id would be two actors of one instance (R5).
    for (let other = this.#starting.get(id); other; other = this.#starting.get(id)) {
      await other.catch(() => undefined);
    }
    const starting = this.#start(start).finally(() => this.#starting.delete(id));
    this.#starting.set(id, starting);
    return starting;
  }

  async #start(start: NewInstance): Promise<InsertInstanceResult> {
    const { startTime } = start;
    if (this.#stopping) {
      throw new AppError('stopping', 'The server is stopping', { retryAfterSeconds: 1 });
    }
    if (this.#actorOf(start.id) !== undefined) {
      const record = await this.#environment.store.getInstance(start.id);
      if (record !== null) return { outcome: 'exists', record };
    }
    // The pass replaces fields of `data`: the caller's object stays as it is.
    const newRun = (): Run =>
      startRun(start.definition, { ...start, data: { ...start.data } }, startTime);
    const run = newRun();
    const insertion = new FirstInsertion(async (actor, side) => {
      const { instance } = actor === null ? newRun() : actor.run;
      const record = newRecord(start, instance, {
        owner: this.#options.nodes.id,
        now: this.#environment.clock.now(),
        wakeAt: actor === null ? startTime : actor.wakeAt(),
      });
      return this.#environment.store.insertInstance({ record, side });
    });
    const actor = new InstanceActor(this.#environment, run, {
      stored: { epoch: 1, inSeq: 0, revision: 0, status: 'Runnable' },
      insert: (self, side) => insertion.withActor(self, side),
    });
    this.#actors.set(start.id, actor);
    actor.wake();
    const cancel = this.#environment.clock.at(startTime + FIRST_PASS_MS_MAX, () =>
      insertion.early(),
    );
    try {
      const result = await insertion.result;
      if (result.outcome === 'exists') {
        // A take-over of it may have found this actor in its way meanwhile.
        actor.abandon();
        this.#forget(actor);
        this.look(start.id);
      }
      return result;
    } catch (error) {
      actor.abandon();
      this.#forget(actor);
      // It may be in the store although no answer came (rule S5); then it has to be run.
      if (error instanceof StoreUnavailableError) {
        this.#leavesWork ||= this.#stopping;
        this.look(start.id);
        const { clock } = this.#environment;
        clock.at(clock.now() + LATE_WRITE_MS, () => this.look(start.id));
      }
      throw error;
    } finally {
      cancel();
    }
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
    this.#setAside.delete(record.id);
    if (actor === undefined) this.#tellOwner(record.id, record.owner);
    else actor.refresh();
  }

  /** Something may have changed for this instance: it is looked at, if it is ours or nobody's. */
  look(id: string): void {
    const actor = this.#actorOf(id);
    if (actor !== undefined) {
      actor.refresh();
      return;
    }
    if (this.#stopping || this.#loading.has(id)) return;
    const loading = this.#environment
      .retryStore(
        () => this.#load(id),
        () => this.#stopping,
      )
      .then((loaded) => {
        if (loaded === null) this.#leavesWork = true;
      })
      .catch((error: unknown) => {
        this.#environment.logger.warn({ workflowId: id, err: error }, 'could not load an instance');
      })
      .finally(() => this.#loading.delete(id));
    this.#loading.set(id, loading);
  }

  /** Finds instances that are due before the next scan and nobody works on, so that their timers are on time. */
  async scan(): Promise<void> {
    const { clock, store } = this.#environment;
    const now = clock.now();
    const ahead = this.#options.scanIntervalMs() + SCAN_MARGIN_MS;
    const due = await store.findDueInstances(now + ahead, SCAN_LIMIT);
    for (const instance of due) {
      if (instance.owner !== null && this.#isElsewhere(instance.owner)) continue;
      const actor = this.#actorOf(instance.id);
      // Its own timer is about to wake it, or it works already.
      if (actor !== undefined && (!actor.isParked || instance.wakeAt > now - 1000)) continue;
      if (this.#timers.has(instance.id) && instance.wakeAt > now) continue;
      if (!this.#setAside.has(instance.id)) this.look(instance.id);
    }
  }

  /** Takes over everything that a dead node owned. */
  async takeOver(nodeId: string): Promise<void> {
    const { store } = this.#environment;
    for (;;) {
      const owned = await store.findOwnedInstances(nodeId, SCAN_LIMIT);
      const claims = await Promise.all(owned.map(async (instance) => this.#claimOrLook(instance)));
      if (!claims.some(Boolean) || this.#stopping) return;
    }
  }

  /** For the environment: a parked actor may be forgotten, its timer may not. */
  parked(actor: InstanceActor): void {
    // Everybody is asked to leave, which those that are forgotten would miss.
    if (this.#stopping) return;
    if (isEnded(actor.run.instance) && actor.isDisposable) {
      this.#forget(actor);
      return;
    }
    this.#actors.delete(actor.id);
    this.#actors.set(actor.id, actor);
    if (this.#actors.size <= this.#environment.limits.parkedMax) return;
    for (const candidate of this.#actors.values()) {
      if (!candidate.isDisposable) continue;
      this.#evict(candidate);
      if (this.#actors.size <= this.#environment.limits.parkedMax) return;
    }
  }

  /** For the environment: an actor has given up its instance. One that was outdated is read again. */
  abandoned(actor: InstanceActor, outdated: boolean): void {
    this.#forget(actor);
    if (!outdated) return;
    // What is stored may say nothing of what is under way; a node that stops cannot look any more.
    this.#leavesWork ||= this.#stopping;
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
    if (isTooLarge) await this.#quarantine(record, 'InstanceTooLarge', error.message);
    else {
      const message = 'the server could not run this instance; its log says why';
      await this.#quarantine(record, 'EngineError', message);
    }
  }

  async #load(id: string): Promise<void> {
    const record = await this.#environment.store.getInstance(id);
    if (record === null || this.#isNewer(record)) return;
    const { nodes } = this.#options;
    const { epoch, owner } = record;
    if (owner === nodes.id) return this.#activate(record);
    const wasKnown = owner !== null && nodes.isKnown(owner);
    if (owner === null || (await nodes.isGone(owner))) {
      await this.#claim(id, epoch, owner !== null && nodes.isKnown(owner));
    } else if (!wasKnown) {
      // Whoever asked for this look took it for nobody's. Only then: a hint makes every node look.
      this.#options.hintOwner(id);
    }
  }

  async #claim(id: string, epoch: number, fromDeadNode: boolean): Promise<boolean> {
    if (this.#stopping || this.#actorOf(id) !== undefined) return false;
    const owner = this.#options.nodes.id;
    const claim = { id, epoch, owner, fromDeadNode, schemaVersionMax: STATE_VERSION };
    const record = await this.#environment.store.claimInstance(claim);
    if (record === null) return false;
    await this.#activate(record);
    return true;
  }

  /** After a failure the claim may be in the store all the same (rule S5); then nobody else comes for it. */
  async #claimOrLook({ epoch, id }: DueInstance): Promise<boolean> {
    try {
      return await this.#claim(id, epoch, true);
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error;
      this.look(id);
      return false;
    }
  }

  async #activate(record: InstanceRecord): Promise<void> {
    if (this.#actorOf(record.id) !== undefined) return;
    if (this.#stopping) {
      this.#leavesWork = true;
      return;
    }
    if (record.crashes >= this.#options.crashesMax) {
      await this.#quarantine(
        record,
        'Poison',
        'servers stopped again and again while they ran this instance',
      );
      return;
    }
    const definition = await this.#definitionOf(record);
    if (definition !== null) await this.#wakeUp(record, definition);
  }

  /** What a newer server has written is left alone, unclaimed, for a node that knows it. */
  #isNewer({ id, schemaVersion }: InstanceRecord): boolean {
    if (schemaVersion <= STATE_VERSION) return false;
    this.#setAside.add(id);
    this.#environment.logger.error(
      { workflowId: id, schemaVersion, known: STATE_VERSION },
      'this instance was written by a newer server; left alone',
    );
    return true;
  }

  /** Null: it cannot be had, and the instance was set aside. @throws when the store does not answer */
  async #definitionOf(record: InstanceRecord): Promise<WorkflowDefinition | null> {
    try {
      const definition = await this.#options.findDefinition(record.definitionId, record.version);
      if (definition !== null) return definition;
      const message = 'the definition of this instance is gone';
      await this.#quarantine(record, 'DefinitionMissing', message);
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'internal') throw error;
      this.#environment.logger.error(
        { workflowId: record.id, err: error },
        'unreadable definition',
      );
      const message = 'the stored definition of this instance cannot be read';
      await this.#quarantine(record, 'UnreadableDefinition', message);
    }
    return null;
  }

  async #wakeUp(record: InstanceRecord, definition: WorkflowDefinition): Promise<void> {
    let actor: InstanceActor;
    try {
      const instance = readState(record, record.state);
      const run = takeUpRun(definition, instance, this.#environment.clock.now());
      const { epoch, inSeq, revision, status } = record;
      actor = new InstanceActor(this.#environment, run, {
        stored: { epoch, inSeq, revision, status },
        stateLength: record.state.length,
      });
    } catch (error) {
      this.#environment.logger.error({ workflowId: record.id, err: error }, 'unreadable state');
      await this.#quarantine(record, 'UnreadableState', 'the stored state cannot be read');
      return;
    }
    if (this.#actorOf(record.id) !== undefined) return;
    this.#timers.get(record.id)?.();
    this.#timers.delete(record.id);
    this.#actors.set(record.id, actor);
    // A wake time that has passed is replaced by a commit, or the scan would find it again and again.
    const isDue = record.wakeAt !== null && record.wakeAt <= this.#environment.clock.now();
    actor.takeOver(record.inbox, isDue || hasSurvived(record, actor.run));
    actor.wake();
  }

  async #quarantine(record: InstanceRecord, type: string, message: string): Promise<void> {
    const { clock, logger, store } = this.#environment;
    logger.error(
      { workflowId: record.id, reason: type },
      'suspended an instance that cannot be run',
    );
    this.#setAside.add(record.id);
    // A commit would clear the inbox; where messages wait, only the status is changed and the log has the reason.
    if (record.status !== 'Runnable' || record.inbox.length > 0) {
      const result = await store.controlInstance(record.id, 'suspend', clock.now());
      if (result.outcome === 'done') this.#options.changed(result.record);
      return;
    }
    const commit = setAsideCommit(record, { type, message, time: clock.now() });
    if ((await store.commitInstance(commit)) === 'committed') {
      const { errorAt, lastChangeAt, status } = commit;
      this.#options.changed({ ...record, status, errorAt, lastChangeAt });
    }
  }

  #evict(actor: InstanceActor): void {
    const timer = nextTimer(actor.run);
    this.#forget(actor);
    actor.abandon();
    if (timer === null) return;
    const { id } = actor;
    const cancel = this.#environment.clock.at(timer, () => {
      this.#timers.delete(id);
      this.look(id);
    });
    this.#timers.set(id, cancel);
  }

  /** The actor that runs an instance here. One that has given it up does not stand in the way of another. */
  #actorOf(id: string): InstanceActor | undefined {
    const actor = this.#actors.get(id);
    return actor?.isAbandoned === true ? undefined : actor;
  }

  #forget(actor: InstanceActor): void {
    if (this.#actors.get(actor.id) === actor) this.#actors.delete(actor.id);
  }

  /** What is not in memory here is another node's to look at, or else ours. */
  #tellOwner(id: string, owner: string | null): void {
    this.#setAside.delete(id);
    if (owner !== null && this.#isElsewhere(owner)) this.#options.hintOwner(id);
    else this.look(id);
  }

  #isElsewhere(owner: string): boolean {
    const { nodes } = this.#options;
    return owner !== nodes.id && nodes.isAlive(owner);
  }
}
