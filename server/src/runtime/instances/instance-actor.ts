/**
 * Runs one instance: takes in what arrived, lets the engine work until everything waits, commits, and starts what the
 * commit made durable.
 *
 *   wake --> [ refresh? ] --> take in --> pass --> commit --> after the commit --> (again, or park)
 *                ^                                   |
 *                +------------- lost ----------------+
 *
 * Owns: the instance between two commits. Must not know: the API, other instances, how nodes share work.
 *
 *  R1 Only one stretch of work runs at a time for an instance.
 *  R2 Nothing leaves the server (effects, work for waiting workers, log lines) before the commit that contains it.
 *  R3 A commit that is lost to a message keeps the work and takes the message in; one that is lost to another owner
 *     throws the work away.
 *  R4 A store error leaves the outcome open: it is read back, by revision, before anything else happens.
 *  R12 An evaluation that nobody wants any more is called off: its instance was suspended or terminated, belongs to
 *     another node, is late, or the server stops. That leaves no trace in the instance or in the log.
 */
import { applyStatus } from '../../engine/flow/lifecycle.js';
import {
  applyEffect,
  applyMessage,
  type EffectResult,
  type Message,
} from '../../engine/flow/messages.js';
import { canGoOn, type Run } from '../../engine/flow/run.js';
import { fireTimers, nextTimer } from '../../engine/flow/timers.js';
import { StoreUnavailableError } from '../../store/store.js';
import type { InboxMessage } from '../../store/records/messages.js';
import type { InstanceRecord, InstanceStatus } from '../../store/records/instances.js';
import type { ActorEnvironment } from './actor-environment.js';
import { ActorMemory } from '../memory/actor-memory.js';
import type { ActorOrigin, Stored } from './actor-origin.js';
import { CrashCount } from '../recovery/crash-count.js';
import { EffectRunner, hasUnderWay } from './effect-runner.js';
import type { Insert } from './first-insertion.js';
import { StateLength } from '../passes/instance-bounds.js';
import { commitOf } from './instance-commit.js';
import { writeStored } from './long-states.js';
import { inOrder, readArrived, type ArrivedMessage } from './message-codec.js';
import { runPass } from '../passes/pass.js';
import { PendingEvaluation } from '../passes/pending-evaluation.js';
import { noSideRecords, UnsavedChanges } from './unsaved-changes.js';
import { wakeTimeOf } from './wake-time.js';

export class InstanceActor {
  readonly id: string;
  readonly #environment: ActorEnvironment;
  readonly #effects: EffectRunner;
  readonly #evaluation: PendingEvaluation;
  readonly #stateLength: StateLength;
  readonly memory: ActorMemory;
  #run: Run;
  #stored: Stored;
  #insert: Insert | null;
  #committedAt: number | null = null;
  #loaded: boolean;
  #unsaved = new UnsavedChanges();
  #arrived: ArrivedMessage[] = [];
  readonly #applied = new Set<string>();
  #results: { pointerId: number; attempt: number; result: EffectResult }[] = [];
  #refreshDue = false;
  #working: Promise<void> | null = null;
  #wakeAgain = false;
  #abandoned = false;
  #outdated = false;
  readonly #crashes: CrashCount;
  #workingSince: number | null = null;
  #leaving = false;
  #cancelTimer: () => void = () => undefined;

  constructor(environment: ActorEnvironment, run: Run, origin: ActorOrigin) {
    this.id = run.instance.id;
    this.#environment = environment;
    this.#run = run;
    this.#stored = origin.stored;
    const { state = '' } = origin;
    const { instanceLengthMax } = environment.limits;
    this.#stateLength = new StateLength(Buffer.byteLength(state), instanceLengthMax);
    this.memory = new ActorMemory(state, (bytes) => environment.mayGrow(this, bytes));
    this.#insert = origin.insert ?? null;
    this.#loaded = origin.insert === undefined;
    this.#crashes = new CrashCount(origin.crashes ?? 0, run.instance);
    this.#evaluation = new PendingEvaluation(environment.clock);
    this.#effects = new EffectRunner(environment, (pointerId, attempt, result) => {
      this.#results.push({ pointerId, attempt, result });
      this.wake();
    });
  }

  get run(): Run {
    return this.#run;
  }

  get epoch(): number {
    return this.#stored.epoch;
  }

  get isStored(): boolean {
    return this.#insert === null;
  }

  /** The time that the newest commit shows as the last change; null before there was one after the insert. */
  get committedAt(): number | null {
    return this.#committedAt;
  }

  /** Nodes in a row that died while they had it, as the store has it. */
  get crashes(): number {
    return this.#crashes.value;
  }

  /** Since when something may be in the store that not everything has followed yet; null: all has. */
  get workingSince(): number | null {
    return this.#workingSince;
  }

  get isParked(): boolean {
    return this.#working === null;
  }

  /** Nothing is lost when a parked actor without effects is dropped from memory: the store has it all. */
  get isDisposable(): boolean {
    return this.isParked && this.#effects.isAtRest && this.#arrived.length === 0;
  }

  /** It has nothing to do until an answer comes from outside. */
  get waitsOutside(): boolean {
    return this.isParked && this.#effects.areCalls;
  }

  get isAbandoned(): boolean {
    return this.#abandoned;
  }

  /** A message that was stored for this instance; one that does not follow directly means that others were missed. */
  deliver(message: ArrivedMessage): void {
    const last = this.#arrived.at(-1)?.inSeq ?? this.#stored.inSeq;
    // Posted again it changes nothing, so what has raised the counter since is something else, such as a suspension.
    const isKnown =
      this.#applied.has(message.id) || this.#arrived.some(({ id }) => id === message.id);
    if (message.inSeq === last + 1 && !isKnown) this.#arrived.push(message);
    else if (message.inSeq > last) this.#refreshDue = true;
    this.wake();
  }

  /** Messages that were in the inbox when the instance was read. */
  takeOver(messages: readonly InboxMessage[], commitDue: boolean): void {
    const { inSeq } = this.#stored;
    this.#arrived.push(...messages.map((message) => ({ ...message, inSeq })));
    this.#run.dirty ||= commitDue;
  }

  /** Something was changed in the store; it is read again. */
  refresh(): void {
    this.#refreshDue = true;
    this.wake();
    this.#evaluation.callOffUnless(() => this.#isWanted());
  }

  /** Somebody suspended or terminated it in the store; terminated with compensation it is still Runnable. */
  controlled(): void {
    this.#refreshDue = true;
    this.#evaluation.callOff();
    this.wake();
  }

  /** Works until everything waits. Callers that come while it works are served by the same stretch. */
  wake(): void {
    if (this.#abandoned) return;
    this.#wakeAgain = true;
    if (this.#working !== null) return;
    this.#cancelTimer();
    this.#workingSince ??= this.#environment.clock.now();
    this.#working = this.#work().finally(() => {
      this.#working = null;
      if (this.#wakeAgain && !this.#abandoned) this.wake();
      else this.#park();
    });
  }

  /** It may go on with what it waits for; its nodes' deaths so far count as this many at most. */
  acquit(crashes: number): void {
    this.#crashes.lower(crashes);
  }

  /** Resolves when the present stretch of work has ended. */
  async idle(): Promise<void> {
    while (this.#working !== null) await this.#working;
  }

  /**
   * Before the server stops: what is under way here is marked as due, so that the next node begins it again at once
   * should it not end in time. Until the signal fires it may end, and its result is committed; nothing new is begun.
   */
  async leave(isLate: AbortSignal): Promise<void> {
    this.#leaving = true;
    this.#evaluation.endWith(isLate);
    await this.idle();
    if (this.#abandoned || !hasUnderWay(this.#run.instance)) return;
    this.#run.dirty = true;
    this.wake();
    await this.idle();
    await this.#effects.end(isLate);
    await this.idle();
  }

  /** Stops without another commit. Effects are told to stop; whoever runs the instance next starts them again. */
  abandon(): void {
    this.#abandoned = true;
    this.#cancelTimer();
    this.#evaluation.callOff();
    this.#effects.abortAll();
    for (const id of this.#unsaved.activityIds) this.#environment.workers.release(id);
  }

  async #work(): Promise<void> {
    try {
      while (this.#wakeAgain && !this.#abandoned) await this.#takeTurn();
    } catch (error) {
      this.abandon();
      await this.#environment.failed(this, error);
    }
  }

  /** Who has more to do afterwards queues again: a few instances that never rest must not stop all others. */
  async #takeTurn(): Promise<void> {
    if (this.#mustLeave()) {
      this.#outdated = true;
      this.abandon();
      return;
    }
    const release = await this.#environment.takeTurn(this.#run.instance);
    try {
      this.#wakeAgain = false;
      if (!this.#abandoned) await this.#stretch();
      this.memory.worked();
    } finally {
      release();
    }
  }

  /** What is to be taken in finds no memory: it leaves, and comes back with all of that when there is some. */
  #mustLeave(): boolean {
    return this.#mayLeave() && !this.#run.dirty && this.memory.isShort(this.#arrived);
  }

  /** Whether all that it has, or will have after its next commit, is in the store. */
  #mayLeave(): boolean {
    return this.isStored && !this.#leaving && this.#effects.isAtRest && this.#results.length === 0;
  }

  #hasRoom(bytes: number): boolean {
    if (this.memory.hasRoomFor(bytes) || (this.isStored && !this.#mayLeave())) return true;
    this.#wakeAgain = true;
    return false;
  }

  async #stretch(): Promise<void> {
    this.#evaluation.renew();
    if (this.#refreshDue) await this.#refresh();
    if (this.#abandoned) return;
    await this.#takeIn();
    await runPass(this.#run, this.#environment, this.#evaluation);
    // What is left when the server stops is for the next node.
    if (canGoOn(this.#run) && !this.#evaluation.hasEnded) this.#wakeAgain = true;
    // One that was stored while its first pass went on learns from its next commit who has changed it.
    const isUnaware = this.#insert !== null && this.#evaluation.isCalledOff;
    // What arrived meanwhile goes into the same commit; committing without it would be refused anyway.
    if (!isUnaware && (this.#arrived.length > 0 || this.#refreshDue)) {
      this.#wakeAgain = true;
      return;
    }
    if (this.#run.dirty || this.#insert !== null) await this.#commit();
    if (!this.isAbandoned && !this.#run.dirty) await this.#afterCommit();
  }

  async #takeIn(): Promise<void> {
    const run = this.#run;
    run.now = this.#environment.clock.now();
    if (this.#loaded) {
      this.#loaded = false;
      await this.#lookForEvents(run);
    }
    const messages: Message[] = [];
    for (const arrived of this.#arrived.splice(0)) {
      this.#stored.inSeq = arrived.inSeq;
      const message = await this.#read(arrived);
      if (message !== null) messages.push(message);
    }
    for (const message of inOrder(messages)) applyMessage(run, message, this.#stored.status);
    for (const { pointerId, attempt, result } of this.#results.splice(0)) {
      run.now = this.#environment.clock.now();
      applyEffect(run, { pointerId, attempt }, result);
    }
    fireTimers(run);
  }

  #lookForEvents(run: Run): Promise<boolean> {
    this.memory.looks();
    return this.#environment.lookForEvents(run, (bytes) => this.#hasRoom(bytes));
  }

  async #read(arrived: ArrivedMessage): Promise<Message | null> {
    if (this.#applied.has(arrived.id)) return null;
    this.#applied.add(arrived.id);
    // The inbox has something to clear, whether or not anybody waits for it.
    this.#run.dirty = true;
    return readArrived(this.id, arrived, this.#environment);
  }

  async #commit(): Promise<void> {
    const run = this.#run;
    if (!(await this.#isWritable())) return;
    this.#unsaved.collect(run, this.#environment.workers);
    this.#unsaved.markAttempted();
    run.dirty = false;
    run.commitDue = false;
    const committed =
      this.#insert === null ? await this.#save() : await this.#insertNew(this.#insert);
    if (this.#abandoned) return;
    if (!committed) {
      run.dirty = true;
      this.#wakeAgain = true;
      return;
    }
    this.#applied.clear();
    const saved = this.#unsaved;
    this.#unsaved = new UnsavedChanges();
    this.#environment.committed(this, saved);
  }

  /**
   * An instance that has become too large is not written: it goes back to the last commit, from which nothing that came
   * later has left the server (R2), and is set aside there. One that was never written is stored as it began.
   *
   * @throws InstanceTooLargeError
   */
  async #isWritable(): Promise<boolean> {
    try {
      this.#stateLength.assertWritable(this.#run);
      return true;
    } catch (error) {
      const outcome = await this.#insert?.(null, noSideRecords());
      if (outcome !== 'not-inserted') throw error;
      this.abandon();
      return false;
    }
  }

  async #insertNew(insert: Insert): Promise<boolean> {
    let outcome: Awaited<ReturnType<Insert>>;
    try {
      outcome = await insert(this, this.#unsaved.side);
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error;
      // Who asked for the start hears of it; the runner looks whether the instance is there all the same.
      this.abandon();
      return false;
    }
    this.#insert = null;
    if (outcome === 'inserted-before') return this.#save();
    if (outcome === 'not-inserted') this.abandon();
    else this.#stored = { ...this.#stored, status: this.#run.instance.status };
    return outcome === 'inserted';
  }

  /** True when the commit is in the store; false when it must be made again. */
  async #save(): Promise<boolean> {
    const { logger, store } = this.#environment;
    const { instance } = this.#run;
    const { epoch, inSeq } = this.#stored;
    const state = await writeStored(instance);
    const now = this.#environment.clock.now();
    const wakeAt = this.wakeAt();
    const crashes = this.#crashes.next(instance, wakeAt === 0);
    try {
      const outcome = await store.commitInstance(
        commitOf(instance, {
          ...{ epoch, inSeq, now, wakeAt, crashes, state },
          revision: this.#stored.revision,
          unsaved: this.#unsaved,
        }),
      );
      if (outcome === 'committed') {
        this.#committedAt = now;
        const revision = this.#stored.revision + 1;
        this.#stored = { epoch, inSeq, revision, status: instance.status };
        this.#stateLength.written(Buffer.byteLength(state));
        this.memory.wrote(state);
        this.#crashes.written(crashes);
        return true;
      }
      this.#environment.metrics.commitLost();
      await this.#refresh();
      return false;
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error;
      logger.warn({ workflowId: this.id, err: error }, 'no answer to a commit; reading it back');
      return this.#readBack(instance.status, state);
    }
  }

  async #readBack(status: InstanceStatus, state: string): Promise<boolean> {
    const before = this.#stored;
    const record = await this.#loadRecord();
    const isCommitted = record?.epoch === before.epoch && record.revision > before.revision;
    // Of two commits without an answer the first has come late: what is in memory does not build on it.
    this.#outdated = isCommitted && record.state !== state;
    if (record?.epoch !== before.epoch || this.#outdated) {
      this.#lose();
      return false;
    }
    if (isCommitted) {
      this.#committedAt = record.lastChangeAt;
      this.#stored = { ...before, revision: record.revision, status };
    }
    this.#merge(record);
    return isCommitted;
  }

  /** Reads the instance until the store answers: nothing else can be done without it. */
  async #loadRecord(): Promise<InstanceRecord | null> {
    return this.#environment.retryStore(
      () => this.#environment.store.getInstance(this.id),
      () => this.#abandoned,
    );
  }

  async #refresh(): Promise<void> {
    this.#refreshDue = false;
    if (this.#insert !== null) return;
    const record = await this.#loadRecord();
    const { epoch, revision } = this.#stored;
    // Another revision in our epoch is a commit of ours that came late: what is in memory does not build on it.
    this.#outdated = record?.epoch === epoch && record.revision !== revision;
    if (record?.epoch !== epoch || this.#outdated) this.#lose();
    else this.#merge(record);
  }

  async #isWanted(): Promise<boolean> {
    const record = await this.#environment.store.getInstance(this.id);
    return record?.epoch === this.#stored.epoch && record.status === this.#stored.status;
  }

  /** Takes over what others have written: messages, and the status when they changed it. */
  #merge(record: InstanceRecord): void {
    const stored = this.#stored;
    this.#arrived = record.inbox.map((message) => ({ ...message, inSeq: record.inSeq }));
    stored.inSeq = record.inSeq;
    if (record.status !== stored.status) {
      stored.status = record.status;
      this.#run.now = this.#environment.clock.now();
      applyStatus(this.#run, record.status, record.endTime ?? this.#run.now);
    }
    this.#run.dirty = true;
    this.#wakeAgain = true;
  }

  #lose(): void {
    this.#environment.metrics.fenced();
    this.abandon();
  }

  async #afterCommit(): Promise<void> {
    const run = this.#run;
    this.#effects.abort(run.changes.abortedEffects.splice(0));
    if (run.instance.status === 'Runnable' && !this.#leaving) {
      this.#effects.start(run, run.changes.effects.splice(0));
    }
    if (await this.#lookForEvents(run)) this.#wakeAgain = true;
    if (run.instance.outbox.length > 0) {
      for (const message of run.instance.outbox.splice(0)) {
        await this.#environment.sendOutbox(run.instance, message);
      }
      run.dirty = true;
      this.#wakeAgain = true;
    }
  }

  /** When the store's scan must find this instance. */
  wakeAt(): number | null {
    return wakeTimeOf(this.#run, this.#leaving);
  }

  #park(): void {
    if (this.#abandoned) {
      this.#environment.abandoned(this, this.#outdated);
      return;
    }
    this.#workingSince = null;
    const timer = nextTimer(this.#run);
    if (timer !== null) this.#cancelTimer = this.#environment.clock.at(timer, () => this.wake());
    this.#environment.parked(this);
  }
}
