/**
 * Runs one instance: takes its messages, lets the engine run until every path waits, commits, and starts the effects that the
 * commit made durable.
 *
 *   wake --> [ refresh? ] --> take in --> pass --> commit --> after the commit --> (again, or park)
 *                ^                                   |
 *                +------------- lost ----------------+
 *
 * Owns: when the instance has work, and the order of that work. Must not know: how commits are made and read back
 * (`InstanceCommitter`), the API, other instances, how nodes share work.
 *
 *  R1 Only one stretch of work runs at a time for an instance.
 *  R2 Nothing leaves the server (effects, work for waiting workers, log lines) before the commit that contains it.
 *  R12 An evaluation that is no longer needed is canceled: its instance was suspended or terminated, belongs to another node or
 *      has timed out, or the server is stopping. The cancellation leaves no trace in the instance or the log.
 *  R13 A wait searches for events only after the commit that contains it. So an overflow message that a commit removes also
 *      stands for the messages that did not fit while the commit was in progress (S8).
 */
import { applyEffect, applyMessage } from '../../engine/flow/messages.js';
import { canContinue, type Session } from '../../engine/session/session.js';
import { fireTimers, nextTimer } from '../../engine/flow/timers.js';
import type { InstanceStatus } from '../../store/records/instances.js';
import type { InboxMessage } from '../../store/records/messages.js';
import { ActorMemory } from '../memory/actor-memory.js';
import { runPass } from '../passes/pass.js';
import { PendingEvaluation } from '../passes/pending-evaluation.js';
import type { ActorEnvironment } from './actor-environment.js';
import { ActorInbox } from './actor-inbox.js';
import type { ActorOrigin } from './actor-origin.js';
import { markSearched } from './event-lookup.js';
import { goOn, NO_TIMER, NOT_STARTED, type Phase, type Working } from './actor-phase.js';
import { EffectRunner } from './effect-runner.js';
import { InstanceCommitter } from './instance-committer.js';
import type { ArrivedMessage } from '../instance-state/message-codec.js';
import { hasUnderWay } from '../instance-state/under-way.js';
import type { UnsavedChanges } from '../instance-state/unsaved-changes.js';

/** The owner of the actor in memory. It is notified of the actor's state. */
export interface ActorOwner {
  /** True if the instance may use this many bytes of memory in total. If not, the actor must leave memory and queue for it. */
  mayGrow(actor: InstanceActor, bytes: number): boolean;
  /** Called when a commit is durable. */
  committed(actor: InstanceActor, saved: UnsavedChanges): void;
  /** Called when the actor has nothing to do until it is woken. */
  parked(actor: InstanceActor): void;
  /**
   * Called when the actor has stopped before its instance ended. `isOutdated`: this node still owns the instance and must read
   * it again.
   */
  abandoned(actor: InstanceActor, isOutdated: boolean): void;
  /** Called when the instance can't run. It must be quarantined, so that it doesn't harm others. */
  failed(actor: InstanceActor, error: unknown): Promise<void>;
}

const DONE = Promise.resolve();

export class InstanceActor {
  readonly id: string;
  readonly session: Session;
  readonly memory: ActorMemory;
  readonly #environment: ActorEnvironment;
  readonly #owner: ActorOwner;
  readonly #inbox: ActorInbox;
  readonly #committer: InstanceCommitter;
  readonly #effects: EffectRunner;
  readonly #evaluation: PendingEvaluation;
  #phase: Phase = NOT_STARTED;
  /** The current stretch of work, or the last one. */
  #stretch = DONE;
  /** True after a load: events for its waits may have been published since the last search. */
  #lookDue: boolean;

  constructor(
    environment: ActorEnvironment,
    owner: ActorOwner,
    session: Session,
    origin: ActorOrigin,
  ) {
    this.id = session.instance.id;
    this.session = session;
    this.#environment = environment;
    this.#owner = owner;
    const record = origin.kind === 'loaded' ? origin.record : null;
    this.#lookDue = record !== null;
    this.memory = new ActorMemory(record?.state ?? '', (bytes) => owner.mayGrow(this, bytes));
    this.#inbox = new ActorInbox(this.id, record?.inSeq ?? 0);
    const parts = {
      environment,
      inbox: this.#inbox,
      memory: this.memory,
      isAbandoned: () => this.isAbandoned,
    };
    this.#committer = new InstanceCommitter(parts, session, origin);
    this.#evaluation = new PendingEvaluation(environment.clock);
    this.#effects = new EffectRunner(environment, () => this.wake());
  }

  get epoch(): number {
    return this.#committer.epoch;
  }

  get isStored(): boolean {
    return this.#committer.isStored;
  }

  /** The stored status, as far as this node knows. */
  get storedStatus(): InstanceStatus {
    return this.#committer.status;
  }

  /** The time of the last change in the newest commit. */
  get committedAt(): number {
    return this.#committer.committedAt;
  }

  /** Number of consecutive nodes that died while they had the instance, as stored. */
  get crashes(): number {
    return this.#committer.crashes;
  }

  /** Start of the period in which the store may have commits with incomplete follow-up work; null if all of it is complete. */
  get workingSince(): number | null {
    return this.#phase.kind === 'parked' ? null : this.#phase.since;
  }

  get isParked(): boolean {
    return this.#phase.kind === 'parked';
  }

  get isAbandoned(): boolean {
    return this.#phase.kind === 'abandoned';
  }

  /**
   * True if the actor can be dropped without losing anything: it is parked, has no effects, and the store has everything.
   */
  get isDisposable(): boolean {
    return this.isParked && this.#effects.isAtRest && this.#inbox.isEmpty;
  }

  /** True if the actor has nothing to do until an external response arrives. */
  get waitsForResponse(): boolean {
    return this.isParked && this.#effects.areCalls;
  }

  /** Receives a message that was stored for this instance. A gap in its counter means that other messages were missed. */
  deliver(message: ArrivedMessage): void {
    this.#workOn(this.#inbox.deliver(message) ? 'turn' : 'refresh');
  }

  /** Receives the messages that were in the inbox when the instance was read. */
  receiveInbox(messages: readonly InboxMessage[], commitDue: boolean): void {
    this.#inbox.receive(messages);
    this.session.dirty ||= commitDue;
  }

  /** Reads the instance again, because the store has changed. */
  refresh(): void {
    this.#workOn('refresh');
    this.#evaluation.callOffUnless(() => this.#committer.isWanted());
  }

  /**
   * Called when the instance was suspended or terminated in the store. An instance terminated with compensation is still
   * Runnable.
   */
  controlled(): void {
    this.#evaluation.callOff();
    this.#workOn('refresh');
  }

  /** Works until every path waits. Calls made while the actor is working are served by the same stretch. */
  wake(): void {
    this.#workOn('turn');
  }

  /** Lets the instance continue. Its crash count is capped at `crashes`. */
  clearSuspicion(crashes: number): void {
    this.#committer.clearSuspicion(crashes);
  }

  /** Resolves when the current stretch of work has ended. */
  async idle(): Promise<void> {
    let stretch: Promise<void>;
    do {
      stretch = this.#stretch;
      await stretch;
    } while (stretch !== this.#stretch);
  }

  /**
   * Prepares to stop the server. Work in progress is marked as due, so that the next node restarts it immediately if it does
   * not finish in time. Until the signal fires, it may finish and its result is committed; nothing new is started.
   */
  async leave(isLate: AbortSignal): Promise<void> {
    this.#committer.isLeaving = true;
    this.#evaluation.endWith(isLate);
    await this.idle();
    if (this.isAbandoned || !hasUnderWay(this.session.instance)) return;
    this.session.dirty = true;
    this.wake();
    await this.idle();
    await this.#effects.end(isLate);
    await this.idle();
  }

  /** Stops without another commit. Effects are aborted; the next node that runs the instance restarts them. */
  abandon(): void {
    this.#giveUp(false);
  }

  #giveUp(isOutdated: boolean): void {
    const phase = this.#phase;
    if (phase.kind === 'abandoned') phase.isOutdated ||= isOutdated;
    else {
      if (phase.kind === 'parked') phase.cancelTimer();
      this.#phase = { kind: 'abandoned', since: this.workingSince, isOutdated };
    }
    this.#evaluation.callOff();
    this.#effects.abortAll();
    this.#committer.release();
  }

  #workOn(next: 'turn' | 'refresh'): void {
    const phase = this.#phase;
    if (phase.kind === 'working') {
      if (phase.next !== 'refresh') phase.next = next;
    } else if (phase.kind === 'parked') {
      phase.cancelTimer();
      this.#begin({ kind: 'working', since: this.#environment.clock.now(), next });
    }
  }

  #begin(phase: Working): void {
    this.#phase = phase;
    this.#stretch = this.#work(phase).finally(() => this.#rest());
  }

  async #work(phase: Working): Promise<void> {
    try {
      while (phase.next !== 'park' && !this.isAbandoned) await this.#takeTurn(phase);
    } catch (error) {
      this.abandon();
      await this.#owner.failed(this, error);
    }
  }

  #rest(): void {
    const phase = this.#phase;
    if (phase.kind === 'abandoned') this.#owner.abandoned(this, phase.isOutdated);
    // The actor was woken after its last turn.
    else if (phase.kind === 'working' && phase.next !== 'park') this.#begin(phase);
    else this.#park();
  }

  #park(): void {
    // Results that no step waited for were not committed.
    this.#effects.saved();
    const timer = nextTimer(this.session);
    const cancelTimer =
      timer === null ? NO_TIMER : this.#environment.clock.at(timer, () => this.wake());
    this.#phase = { kind: 'parked', cancelTimer };
    this.#owner.parked(this);
  }

  /** An actor with more work queues again, so that a few instances that never wait don't block all others. */
  async #takeTurn(phase: Working): Promise<void> {
    if (this.#mustLeave()) {
      this.#giveUp(true);
      return;
    }
    const release = await this.#environment.takeTurn(this.session.instance);
    try {
      if (!this.isAbandoned) {
        const isRefreshDue = phase.next === 'refresh';
        phase.next = 'park';
        await this.#useTurn(phase, isRefreshDue);
      }
      this.memory.worked();
    } finally {
      release();
    }
  }

  /**
   * True if there is no memory for pending messages: the instance leaves memory, and returns with all of them once there is.
   */
  #mustLeave(): boolean {
    return this.#mayLeave() && !this.session.dirty && this.memory.isShort(this.#inbox.waiting);
  }

  /** True if the store has everything, or will have it after the next commit. */
  #mayLeave(): boolean {
    const { isLeaving, isStored } = this.#committer;
    return isStored && !isLeaving && this.#effects.isAtRest && !this.#effects.hasResults;
  }

  #hasRoom(phase: Working, bytes: number): boolean {
    if (this.memory.hasRoomFor(bytes) || (this.isStored && !this.#mayLeave())) return true;
    goOn(phase);
    return false;
  }

  async #useTurn(phase: Working, isRefreshDue: boolean): Promise<void> {
    const { session } = this;
    this.#evaluation.renew();
    if (isRefreshDue && !(await this.#refresh(phase))) return;
    await this.#takeIn(phase);
    await runPass(session, this.#environment, this.#evaluation);
    // When the server stops, the next node continues the rest.
    if (canContinue(session) && !this.#evaluation.hasEnded) goOn(phase);
    // An instance that was stored during its first pass detects concurrent changes with its next commit.
    const isUnaware = !this.isStored && this.#evaluation.isCalledOff;
    // Messages that have since arrived go into the same commit. The store would reject a commit without them.
    if (!isUnaware && (!this.#inbox.isEmpty || phase.next === 'refresh')) {
      if (this.isStored) this.#committer.assertWritable();
      goOn(phase);
      return;
    }
    if (session.dirty || !this.isStored) await this.#commit(phase);
    if (!this.isAbandoned && !session.dirty) await this.#afterCommit(phase);
  }

  async #takeIn(phase: Working): Promise<void> {
    const { session } = this;
    session.now = this.#environment.clock.now();
    if (this.#lookDue) {
      this.#lookDue = false;
      await this.#lookForEvents(phase);
      await this.#environment.withdrawItems(session);
    }
    if (!this.#inbox.isEmpty) {
      const messages = await this.#inbox.takeIn(this.#environment);
      // The stored inbox has messages to clear, whether or not a step waited for them.
      session.dirty ||= this.#inbox.hasTakenIn;
      for (const message of messages) applyMessage(session, message, this.#committer.status);
    }
    for (const { pointerId, attempt, result } of this.#effects.takeResults()) {
      session.now = this.#environment.clock.now();
      applyEffect(session, { pointerId, attempt }, result);
    }
    fireTimers(session);
  }

  #lookForEvents(phase: Working): Promise<boolean> {
    this.memory.looks();
    return this.#environment.lookForEvents(this.session, (bytes) => this.#hasRoom(phase, bytes));
  }

  async #commit(phase: Working): Promise<void> {
    const outcome = await this.#committer.commit();
    if (typeof outcome !== 'string') {
      this.#effects.saved();
      if (outcome.noEvents) markSearched(this.session);
      // If the actor was stopped during the commit, the next node that runs the instance continues from the stored state.
      if (this.isAbandoned) return;
      // A commit that was read back has also merged concurrent changes.
      if (this.session.dirty) goOn(phase);
      this.#owner.committed(this, outcome);
    } else if (outcome === 'merged') goOn(phase);
    else if (outcome === 'refused' && !this.isAbandoned) await this.#refresh(phase);
    else this.#giveUp(outcome === 'outdated');
  }

  /** Reads the changes of others. Returns false if the actor has given up. */
  async #refresh(phase: Working): Promise<boolean> {
    // This read shows every earlier change.
    if (phase.next === 'refresh') phase.next = 'turn';
    if (!this.isStored) return !this.isAbandoned;
    const outcome = await this.#committer.refresh();
    if (outcome === 'merged') goOn(phase);
    else this.#giveUp(outcome === 'outdated');
    return !this.isAbandoned;
  }

  async #afterCommit(phase: Working): Promise<void> {
    const { session } = this;
    this.#effects.abort(session.changes.abortedEffects.splice(0));
    if (session.instance.status === 'Runnable' && !this.#committer.isLeaving) {
      this.#effects.start(session, session.changes.effects.splice(0));
    }
    if (await this.#lookForEvents(phase)) goOn(phase);
    if (await this.#environment.withdrawItems(session)) goOn(phase);
    if (session.instance.outbox.length > 0) {
      for (const message of session.instance.outbox.splice(0)) {
        await this.#environment.sendOutbox(session.instance, message);
      }
      session.dirty = true;
      goOn(phase);
    }
  }
}
