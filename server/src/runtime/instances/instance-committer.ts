/**
 * Writes one instance to the store, and determines the outcome of each write.
 *
 *   commit --> committed
 *          --> refused: somebody has written --> refresh --> merged, or given up
 *          --> no answer: read back ----------> committed, merged, or given up
 *
 * Owns: the stored state of the instance, as far as this node knows it, and the changes that no commit has saved yet. Must
 * not know: when a commit is due, effects, other instances.
 *
 *  R3 A commit that is lost to a message keeps the work and merges the message. A commit that is lost to another owner
 *     discards the work.
 *  R4 A store error leaves the outcome unknown: it is read back, by revision, before anything else happens.
 */
import { applyStatus } from '../../engine/flow/lifecycle.js';
import type { Session } from '../../engine/session/session.js';
import { forgetAnswers } from '../../engine/repair/answers.js';
import { StoreUnavailableError } from '../../store/store.js';
import type { IndexChange, InstanceRecord, InstanceStatus } from '../../store/records/instances.js';
import type { LimitKey, RefusedSlots } from '../../store/records/slots.js';
import type { ActorMemory } from '../memory/actor-memory.js';
import type { Announcement } from '../notifications/change-announcer.js';
import { StateLength } from '../passes/instance-bounds.js';
import { CrashCount } from './crash-count.js';
import type { ActorEnvironment } from './actor-environment.js';
import type { ActorInbox } from './actor-inbox.js';
import type { ActorOrigin } from './actor-origin.js';
import type { FirstPass, Insert } from './first-insertion.js';
import { IndexTracker } from '../instance-state/index-tracker.js';
import { beginsByRepair, commitOf, queueChange } from './instance-commit.js';
import { writeStored } from '../instance-state/long-states.js';
import { isQueued } from '../instance-state/new-instance.js';
import {
  forgetInput,
  storedWindowOf,
  windowChangeOf,
  type StoredWindow,
} from '../instance-state/stored-window.js';
import { UnsavedChanges } from '../instance-state/unsaved-changes.js';
import { wakeTimeOf } from '../instance-state/wake-time.js';

/** The result of reading the instance again. */
export type Refreshed =
  /** Concurrent changes were merged and must be committed. */
  | 'merged'
  /** Another node owns the instance now, or the instance no longer exists. */
  | 'fenced'
  /** An earlier write or a later claim of this node arrived: the state in memory does not build on it. */
  | 'outdated';

export type NotCommitted =
  | Refreshed
  /** The instance has changed in the store. It must be read before the commit is repeated. */
  | 'refused'
  /** A new instance that must not run here: another caller has started it, or it is unknown whether it was stored. */
  | 'not-stored';

/** The stored state, according to the last response. */
interface Stored {
  readonly epoch: number;
  revision: number;
  version: number;
  queued: boolean;
  window: StoredWindow;
  /** Differs from the status of the run only while an external change is not merged yet. */
  status: InstanceStatus;
}

export interface CommitterParts {
  readonly environment: Pick<
    ActorEnvironment,
    | 'announce'
    | 'changeTimes'
    | 'clock'
    | 'indexPaths'
    | 'limits'
    | 'logger'
    | 'metrics'
    | 'nodeId'
    | 'retryStore'
    | 'traced'
    | 'store'
    | 'workers'
    | 'likelyRefusals'
  >;
  readonly inbox: ActorInbox;
  readonly memory: ActorMemory;
  /** True if the actor no longer waits for a response of the store. */
  readonly isAbandoned: () => boolean;
}

export class InstanceCommitter implements FirstPass {
  readonly session: Session;
  /** True if the node is stopping: work in progress is written as due immediately, for the next node. */
  isLeaving = false;
  readonly #parts: CommitterParts;
  readonly #stored: Stored;
  /** Inserts the instance into the store; null once it is stored. */
  #insert: Insert | null;
  #committedAt: number;
  #unsaved = new UnsavedChanges();
  readonly #stateLength: StateLength;
  readonly #crashes: CrashCount;
  readonly #indexed = new IndexTracker();

  constructor(parts: CommitterParts, session: Session, origin: ActorOrigin) {
    this.#parts = parts;
    this.session = session;
    const { instanceLengthMax } = parts.environment.limits;
    if (origin.kind === 'new') {
      const { version } = session.instance;
      const window = storedWindowOf(session.instance);
      this.#stored = { epoch: 1, revision: 0, version, queued: false, window, status: 'Runnable' };
      this.#insert = origin.insert;
      this.#committedAt = session.instance.startTime;
      this.#stateLength = new StateLength(0, instanceLengthMax);
      this.#crashes = new CrashCount(0, session.instance);
    } else {
      const { crashes, epoch, lastChangeAt, queued, revision, state, status, version, ...others } =
        origin.record;
      const { countsFrom, debounceKey } = others;
      const window = { countsFrom, debounceKey };
      this.#stored = { epoch, revision, version, queued, window, status };
      this.#insert = null;
      this.#committedAt = lastChangeAt;
      this.#stateLength = new StateLength(Buffer.byteLength(state), instanceLengthMax);
      this.#crashes = new CrashCount(crashes, session.instance);
    }
  }

  get epoch(): number {
    return this.#stored.epoch;
  }

  get status(): InstanceStatus {
    return this.#stored.status;
  }

  get isStored(): boolean {
    return this.#insert === null;
  }

  /** The time of the last change in the newest commit. */
  get committedAt(): number {
    return this.#committedAt;
  }

  /** Number of consecutive nodes that died while they had the instance, as stored. */
  get crashes(): number {
    return this.#crashes.value;
  }

  /** Caps the crash count at `crashes`. */
  clearSuspicion(crashes: number): void {
    this.#crashes.lower(crashes);
  }

  /** When the store's scan must find this instance. */
  wakeAt(): number | null {
    return wakeTimeOf(this.session, this.isLeaving);
  }

  wrote(state: string, now: number): void {
    this.#committedAt = now;
    this.#parts.memory.wrote(state);
  }

  foundNoEvents(): void {
    this.#unsaved.noEvents = true;
  }

  mustLookAt(keys: readonly LimitKey[]): void {
    this.#unsaved.limitKeys = keys;
  }

  /** Call between two turns without a commit, so that an instance cannot grow for long. @throws InstanceTooLargeError */
  assertWritable(): void {
    const { instance } = this.session;
    // Done before the state is measured: answers that no caller waits for must not prevent a commit.
    if (instance.answers.length > 0) forgetAnswers(instance, this.#parts.environment.clock.now());
    this.#stateLength.assertWritable(this.session);
  }

  /** Releases the workers reserved for unsaved changes: they continue to wait. */
  release(): void {
    for (const id of this.#unsaved.activityIds) this.#parts.environment.workers.release(id);
  }

  /**
   * Writes the instance and returns the changes that were saved with it.
   *
   * @throws InstanceTooLargeError if the instance must not be written. The store then still has the last commit, and
   * nothing later has left the server (R2).
   */
  async commit(): Promise<UnsavedChanges | NotCommitted> {
    const { session } = this;
    try {
      this.assertWritable();
    } catch (error) {
      return this.#storeAsBegun(error);
    }
    this.#parts.environment.likelyRefusals.refuse(session);
    this.#unsaved.collect(session, this.#parts.environment.workers);
    this.#unsaved.markAttempted();
    session.dirty = false;
    session.commitDue = false;
    const outcome =
      this.#insert === null ? await this.#save() : await this.#insertNew(this.#insert);
    if (outcome !== 'committed') {
      session.dirty = true;
      return outcome;
    }
    this.#parts.inbox.committed();
    const saved = this.#unsaved;
    this.#unsaved = new UnsavedChanges();
    return saved;
  }

  /** Reads a stored instance again after a concurrent change. Call it only for a stored instance. */
  async refresh(): Promise<Refreshed> {
    const record = await this.#loadRecord();
    const { epoch, revision } = this.#stored;
    if (record?.epoch !== epoch) return this.#lose(this.#isOwn(record) ? 'outdated' : 'fenced');
    // Another revision in our epoch is our own commit, arriving late: the state in memory does not build on it.
    if (record.revision !== revision) return this.#lose('outdated');
    return this.#merge(record);
  }

  /** True if this node still owns the instance, and its status is unchanged. */
  async isWanted(): Promise<boolean> {
    const record = await this.#parts.environment.store.getInstance(this.session.instance.id);
    return record?.epoch === this.#stored.epoch && record.status === this.#stored.status;
  }

  /** A new instance that has become too large is quarantined in its initial state, which must be stored first. */
  async #storeAsBegun(error: unknown): Promise<'not-stored'> {
    const outcome = await this.#insert?.(null, new UnsavedChanges());
    if (outcome !== 'not-inserted') throw error;
    return 'not-stored';
  }

  async #insertNew(insert: Insert): Promise<'committed' | NotCommitted> {
    let outcome: Awaited<ReturnType<Insert>>;
    try {
      outcome = await insert(this, this.#unsaved);
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error;
      // The caller of the start gets the error. The runner checks whether the instance was stored anyway.
      return 'not-stored';
    }
    if (typeof outcome === 'object') return this.#waitForSlots(outcome.refused);
    this.#insert = null;
    if (outcome === 'inserted-before') return this.#save();
    if (outcome === 'not-inserted') return 'not-stored';
    this.#stored.status = this.session.instance.status;
    this.#stored.queued = isQueued(this.session.instance);
    this.#stored.window = storedWindowOf(this.session.instance);
    return 'committed';
  }

  async #save(): Promise<'committed' | NotCommitted> {
    const { environment } = this.#parts;
    const { changeTimes, logger, metrics, store } = environment;
    const { definition, instance } = this.session;
    const { epoch, revision } = this.#stored;
    const known = environment.indexPaths(definition);
    const paths = known instanceof Promise ? await known : known;
    const indexChange = this.#indexed.changeOf(instance, paths);
    const announcement = this.#announce(indexChange);
    const state = await writeStored(instance);
    const now = changeTimes.now();
    const wakeAt = this.wakeAt();
    const crashes = this.#crashes.next(instance, wakeAt === 0);
    const { inSeq } = this.#parts.inbox;
    const queued = isQueued(instance);
    const windowChange = await windowChangeOf(instance, this.#stored.window, now);
    const isMoved = queued !== this.#stored.queued || beginsByRepair(instance, this.#unsaved);
    try {
      const commit = commitOf(instance, {
        epoch,
        inSeq,
        revision,
        now,
        wakeAt,
        crashes,
        state,
        ...(indexChange !== undefined && { indexChange }),
        ...(isMoved && queueChange(queued)),
        ...windowChange,
        ...(instance.version !== this.#stored.version && {
          version: instance.version,
          retentionMs: definition.retentionMs,
        }),
        unsaved: this.#unsaved,
        announcement,
      });
      const result = await environment.traced(instance, () => store.commitInstance(commit));
      if (result === 'lost' || (typeof result === 'object' && result.outcome === 'refused')) {
        announcement.takeBack();
        if (result !== 'lost') return this.#waitForSlots(result.refused);
        metrics.commitLost();
        return 'refused';
      }
      if (result !== 'committed') this.#unsaved.limitKeys = result.waits;
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error;
      const fields = { workflowId: instance.id, err: error };
      logger.warn(fields, 'the store did not answer a commit; reading the instance back');
      return this.#readBack(state, announcement);
    }
    if (indexChange !== undefined) instance.index = indexChange.after;
    this.#written({ state, crashes, lastChangeAt: now, revision: revision + 1 });
    announcement.written();
    return 'committed';
  }

  /** The executions that can't have their slots wait for them: this is committed instead. */
  #waitForSlots(refused: readonly RefusedSlots[]): 'merged' {
    const { session } = this;
    const { clock, likelyRefusals, workers } = this.#parts.environment;
    session.now = clock.now();
    this.#unsaved.slotsRefused(likelyRefusals.refused(session, refused), workers);
    return 'merged';
  }

  /** Announcements may depend on index fields that this commit changes. */
  #announce(indexChange: IndexChange | undefined): Announcement {
    const { instance } = this.session;
    const stored = instance.index;
    if (indexChange !== undefined) instance.index = indexChange.after;
    const announcement = this.#parts.environment.announce(instance);
    instance.index = stored;
    return announcement;
  }

  async #readBack(state: string, announcement: Announcement): Promise<'committed' | Refreshed> {
    const stored = this.#stored;
    const record = await this.#loadRecord();
    if (record?.epoch !== stored.epoch) {
      return this.#lose(this.#isOwn(record) ? 'outdated' : 'fenced');
    }
    const isCommitted = record.revision > stored.revision;
    // Of two commits without a response, the first arrived late: the state in memory does not build on it.
    if (isCommitted && record.state !== state) return this.#lose('outdated');
    if (isCommitted) {
      this.#written(record);
      announcement.written();
    } else announcement.takeBack();
    this.#merge(record);
    return isCommitted ? 'committed' : 'merged';
  }

  /** Called when a commit of the current state is in the store. */
  #written(record: Pick<InstanceRecord, 'state' | 'crashes' | 'lastChangeAt' | 'revision'>): void {
    this.#committedAt = record.lastChangeAt;
    this.#stored.revision = record.revision;
    this.#stored.version = this.session.instance.version;
    this.#stored.status = this.session.instance.status;
    this.#stored.queued = isQueued(this.session.instance);
    this.#stored.window = storedWindowOf(this.session.instance);
    forgetInput(this.session.instance);
    this.#stateLength.written(Buffer.byteLength(record.state));
    this.#parts.memory.wrote(record.state);
    this.#crashes.written(record.crashes);
  }

  /** Retries until the store responds: the record is required to continue. */
  #loadRecord(): Promise<InstanceRecord | null> {
    const { environment, isAbandoned } = this.#parts;
    const { id } = this.session.instance;
    return environment.retryStore(() => environment.store.getInstance(id), isAbandoned);
  }

  /** Merges concurrent changes: messages, and the status if it was changed. */
  #merge(record: InstanceRecord): 'merged' {
    const { session } = this;
    this.#parts.inbox.replace(record);
    session.instance.tags = record.tags;
    session.instance.priority = record.priority;
    session.instance.index = record.index;
    session.instance.restartedAs = record.restartedAs;
    if (record.status !== this.#stored.status) {
      this.#stored.status = record.status;
      session.now = this.#parts.environment.clock.now();
      applyStatus(session, record.status, record.endTime ?? session.now);
    }
    session.dirty = true;
    return 'merged';
  }

  /** This node may have claimed the instance once more while the state in memory was being loaded. */
  #isOwn(record: InstanceRecord | null): boolean {
    return record?.owner === this.#parts.environment.nodeId;
  }

  #lose<Why extends 'fenced' | 'outdated'>(why: Why): Why {
    this.#parts.environment.metrics.fenced();
    return why;
  }
}
