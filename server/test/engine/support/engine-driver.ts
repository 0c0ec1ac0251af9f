/**
 * Runs an instance through the engine as a server would, but at once and alone: no Python, no store, no clock.
 *
 * Expressions are JavaScript (`evaluate.ts`); what effects, workers, events and other instances answer, and how time goes
 * by, is the test's to say. After every entry into the engine the driver
 *   - checks the invariants of `pointer.ts`,
 *   - keeps account of what was asked for outside, which must be exactly what is waited for (E7),
 *   - writes the instance to text and, in reload mode, goes on with what it reads back: nothing may depend on memory.
 */
import { cancelStep, takeCancelChecks } from '../../../src/engine/flow/cancel-conditions.js';
import type { WorkflowDefinition } from '../../../src/engine/model/definition.js';
import { type Failure } from '../../../src/engine/failure/fail-step.js';
import { isEnded, type InstanceStatus, type Instance } from '../../../src/engine/model/instance.js';
import type { Json, JsonObject } from '../../../src/engine/values/json.js';
import type { ChildMessage } from '../../../src/engine/flow/child-end.js';
import { applyStatus, startSession, restoreSession } from '../../../src/engine/flow/lifecycle.js';
import {
  applyEffect,
  applyMessage,
  type EffectResult,
  type EventMessage,
  type Message,
} from '../../../src/engine/flow/messages.js';
import { executionKey, type Pointer } from '../../../src/engine/model/pointer.js';
import { type ActivityOffer, type Session } from '../../../src/engine/session/session.js';
import type { Modification, ModificationResult } from '../../../src/engine/model/modification.js';
import { modifyInstance } from '../../../src/engine/repair/modify.js';
import { readState, writeState } from '../../../src/engine/model/snapshot.js';
import { fireTimers, nextTimer } from '../../../src/engine/flow/timers.js';
import { broken, checkRun, CompensationCheck, RecordCheck } from './check-invariants.js';
import { OpenItemsCheck } from './check-open-items.js';
import { columnsOf } from './columns-of.js';
import type { Effect } from './outside.js';
import { applyWithdrawn, stepsToAskAbout } from '../../../src/engine/flow/withdrawn-items.js';
import { waitsForStart } from '../../../src/engine/session/pointer-states.js';
import { isAwaited } from '../../../src/engine/failure/in-flight.js';
import { isTrue, runStep } from './run-step.js';
import { RunView } from './run-view.js';
import type { Slots } from './slots.js';
import { type World } from './evaluate.js';

/** 2030-01-01T00:00:00Z; instances start here unless the test sets another time. */
export const START_MS = Date.UTC(2030, 0, 1);

export interface DriverOptions {
  readonly data?: JsonObject;
  /** The variable `world` of expressions, which the test changes without the engine. */
  readonly world?: World;
  /** Whether the instance is written and read back; called after every call of the engine. */
  readonly reload?: () => boolean;
  /** How the first step waits. */
  readonly waits?: Pick<Parameters<typeof startSession>[1], 'startAt' | 'queues' | 'debounce'>;
  /** More steps without a wait than this end the test: the definition loops forever. */
  readonly stepsMax?: number;
  /** The limits that exist. Default: all, with slots for everyone. */
  readonly slots?: Slots['capacities'];
}

const NOTHING = { data: null, cancel: [], start: [], stepMap: {}, resume: false };

/** Thrown if a definition runs on without ever waiting. */
export class EndlessLoopError extends Error {
  override readonly name = 'EndlessLoopError' as const;
}

export class EngineDriver extends RunView {
  /** Changes when a modification moves the instance to another version. */
  definition: WorkflowDefinition;
  readonly logMessages: Json[] = [];
  /** How often the engine requested a commit before continuing. */
  commitsDue = 0;
  readonly #world: World;
  readonly #reload: () => boolean;
  readonly #stepsMax: number;
  readonly #recordCheck = new RecordCheck();
  readonly #compensationCheck = new CompensationCheck();
  readonly #openItemsCheck = new OpenItemsCheck();
  #session: Session;
  #text = '';
  #stepsWithoutWait = 0;

  constructor(definition: WorkflowDefinition, options: DriverOptions = {}) {
    super();
    this.definition = definition;
    this.#world = options.world ?? {};
    this.#reload = options.reload ?? (() => false);
    this.#stepsMax = options.stepsMax ?? 2000;
    // An instance owns its data; a test may start several instances with the same data.
    const data = structuredClone(options.data ?? {});
    const start = { id: 'w', data, reference: null, parent: null, ...options.waits };
    this.outside.slots.capacities = options.slots ?? null;
    this.#session = startSession(definition, start, START_MS);
    this.#settled();
    this.pump();
  }

  override get run(): Session {
    return this.#session;
  }

  /** The instance as the store would keep it. */
  get text(): string {
    return this.#text;
  }

  // ------------------------------------------------------------ what happens outside

  /** Publishes an event: stores it, and delivers it to open waits. */
  publish(
    name: string,
    key: string,
    data: Json = null,
    options: { readonly id?: string; readonly at?: number } = {},
  ): EventMessage {
    const { id, at = this.now } = options;
    const event = this.outside.store({
      ...(id !== undefined && { eventId: id }),
      name,
      key,
      publishedAt: at,
      data,
    });
    this.deliver(event);
    return event;
  }

  /** Stores an event without delivering it, like one that was published earlier. */
  store(name: string, key: string, data: Json, at: number): void {
    this.outside.store({ name, key, publishedAt: at, data });
  }

  deliver(message: Message): void {
    if (isEnded(this.instance)) return;
    this.#enter(() => {
      applyMessage(this.#session, message);
      // The end of a child may overtake the confirmation of its start, which is ignored then.
      if (message.kind === 'child' && this.#hasFinished(message.pointerId)) {
        this.outside.forgetEffect(message.pointerId);
      }
    });
    this.pump();
  }

  #hasFinished(pointerId: number): boolean {
    return this.instance.pointers.get(pointerId)?.state.kind === 'finishing';
  }

  succeed(offer: ActivityOffer, data: Json = null): void {
    this.deliver({ kind: 'activity', activityId: offer.id, succeeded: true, data });
  }

  reject(offer: ActivityOffer, data: Json = null): void {
    this.deliver({ kind: 'activity', activityId: offer.id, succeeded: false, data });
  }

  endEffect(effect: Effect, values: JsonObject = {}): void {
    this.#applyEffect(effect, { ok: true, values });
  }

  failEffect(effect: Effect, failure: Failure = { type: 'Test', message: 'it failed' }): void {
    this.#applyEffect(effect, { ok: false, failure });
  }

  endChild(stepId: string, status: InstanceStatus, data: JsonObject = {}): void {
    this.endChildWith(stepId, { status, data });
  }

  endChildWith(
    stepId: string,
    end: Pick<ChildMessage, 'status' | 'outcome' | 'error' | 'data' | 'refused'>,
  ): void {
    const { id, attempt, state } = this.pointer(stepId);
    if (state.kind !== 'child') throw new Error(`${stepId} is not waiting for a child`);
    const { workflowId } = state;
    this.deliver({ kind: 'child', pointerId: id, attempt, workflowId, ...end });
  }

  /** Advances the time; everything fires when it is due. */
  advance(seconds: number): void {
    const target = this.now + seconds * 1000;
    for (
      let due = nextTimer(this.#session);
      due !== null && due <= target;
      due = nextTimer(this.#session)
    ) {
      this.#session.now = due;
      this.pump();
    }
    this.#session.now = target;
  }

  /** Advances the time without checks in between: what became due in the meantime fires afterwards. */
  oversleep(seconds: number): void {
    this.#session.now += seconds * 1000;
    this.pump();
  }

  suspend(): void {
    this.#control('Suspended');
  }

  resume(): void {
    this.#control('Runnable');
  }

  terminate(): void {
    this.#control('Terminated');
  }

  /** Terminates with compensation; a suspended instance is resumed for it. */
  cleanUp(graceSeconds?: number): void {
    if (isEnded(this.instance)) return;
    const grace = graceSeconds === undefined ? {} : { graceUntil: this.now + graceSeconds * 1000 };
    this.#enter(() => {
      applyMessage(this.#session, { kind: 'clean-up', ...grace }, 'Runnable');
    });
    this.pump();
  }

  /** The worker of a withdrawn item gives it back. */
  giveBack(offer: ActivityOffer): void {
    const { id: activityId } = offer;
    this.deliver({ kind: 'activity', activityId, succeeded: false, data: null, released: true });
  }

  /** @param target the version that the instance is moved to; its own by default */
  modify(parts: Partial<Modification>, target = this.definition): ModificationResult {
    const modification: Modification = { reason: 'a test', ...NOTHING, ...parts };
    const before = this.#text;
    const result = this.#enter(() => modifyInstance(this.#session, modification, target));
    if (result.outcome === 'impossible' && this.#text !== before) broken('E11', modification);
    this.definition = this.#session.definition;
    this.pump();
    return result;
  }

  /** Another node takes over the instance, without the state that was in memory. */
  reload(): void {
    this.#continueWith(readState(columnsOf(this.instance), this.#text));
    this.pump();
  }

  // ------------------------------------------------------------ as a server would

  /** Lets the engine work until everything is waiting. */
  pump(): void {
    this.#fireTimers();
    while (this.#work()) {
      this.#stepsWithoutWait += 1;
      if (this.#stepsWithoutWait > this.#stepsMax) throw new EndlessLoopError(this.open.join(', '));
    }
    this.#stepsWithoutWait = 0;
    this.instance.stepsWithoutWait = 0;
    this.#text = writeState(this.instance);
    this.#checkRest();
  }

  /** The conditions that hold once everything is waiting. */
  #checkRest(): void {
    for (const pointer of this.pointers) {
      const { cancelCondition } = this.definition.steps.get(pointer.stepId)!;
      const isCanceled = pointer.state.kind === 'finishing' && pointer.state.cancelled === true;
      // A step that a clean-up is ending cannot be canceled any more.
      if (cancelCondition === null || isCanceled || pointer.isEnding === true) continue;
      if (waitsForStart(pointer.state)) continue;
      if (this.#isTrue(pointer, cancelCondition)) {
        broken('a true cancel condition acts', pointer);
      }
    }
  }

  /** Does the next possible thing; false if everything is waiting. */
  #work(): boolean {
    if (
      this.#checkCancelConditions() ||
      this.#enter(() => runStep(this.#session, this.#world)) ||
      this.#lookForEvents() ||
      this.#askAboutItems()
    )
      return true;
    // Timers of zero length are due immediately; a server would process them immediately.
    return this.#fireTimers();
  }

  #fireTimers(): boolean {
    const due = nextTimer(this.#session);
    if (due === null || due > this.now) return false;
    this.#enter(() => fireTimers(this.#session));
    return true;
  }

  #checkCancelConditions(): boolean {
    const checks = takeCancelChecks(this.#session);
    let hasCanceled = false;
    this.#enter(() => {
      for (const { pointer, condition } of checks) {
        if (!this.#isTrue(pointer, condition)) continue;
        hasCanceled = true;
        cancelStep(this.#session, pointer);
      }
    });
    return hasCanceled;
  }

  #isTrue(pointer: Pointer, condition: Parameters<typeof isTrue>[2]): boolean {
    return isTrue(this.#session, pointer, condition, this.#world);
  }

  /** What a server does once a subscription is stored: search for events that were published earlier. */
  #lookForEvents(): boolean {
    for (const pointer of this.pointers) {
      const { state } = pointer;
      if (state.kind !== 'event' || state.looked) continue;
      this.#enter(() => {
        pointer.state = { ...state, looked: true };
        this.#session.dirty = true;
        const event = this.outside.firstEvent(this.instance, state);
        if (event !== undefined) applyMessage(this.#session, event);
      });
      return true;
    }
    return false;
  }

  /** What a server does once a stop is stored: withdraw the items of its activities. */
  #askAboutItems(): boolean {
    const [pointer] = stepsToAskAbout(this.#session);
    if (pointer === undefined) return false;
    const item = this.outside.withdraw(executionKey(this.instance.id, pointer), this.now);
    this.#enter(() => applyWithdrawn(this.#session, pointer, item));
    return true;
  }

  #applyEffect(effect: Effect, result: EffectResult): void {
    this.outside.endEffect(effect);
    this.#enter(() => {
      applyEffect(this.#session, effect, result);
    });
    this.pump();
  }

  #control(status: InstanceStatus): void {
    this.#enter(() => {
      applyStatus(this.#session, status, this.now);
    });
    this.pump();
  }

  // ------------------------------------------------------------ after every entry

  #enter<Result>(call: () => Result): Result {
    this.#session.dirty = false;
    const result = call();
    this.#settled();
    return result;
  }

  #settled(): void {
    checkRun(this.#session);
    if (this.#session.commitDue) this.commitsDue += 1;
    this.#session.commitDue = false;
    this.logMessages.push(...this.outside.take(this.#session));
    this.#compensationCheck.check(this.pointers);
    this.#openItemsCheck.check(this.#session);
    this.#spillRecords();
    this.#checkText();
  }

  #spillRecords(): void {
    const { instance } = this.#session;
    for (const record of instance.recent) this.#recordCheck.add(record);
    this.records.push(...instance.recent);
    instance.spilled += instance.recent.length;
    instance.recent = [];
    if (isEnded(instance)) this.#recordCheck.checkAllRecorded(instance.nextPointerId - 1);
  }

  #checkText(): void {
    const { instance, dirty } = this.#session;
    const text = writeState(instance);
    const changed = text !== this.#text;
    this.#text = text;
    if (changed && !dirty) broken('what changed is dirty', this.open);
    const copy = readState(columnsOf(instance), text);
    if (writeState(copy) !== text) broken('what is written can be read back', text);
    // A call that is waited for by a stop would be lost; `crash` tests that.
    const isAwaiting = this.pointers.some((pointer) => isAwaited(pointer));
    if (!isAwaiting && this.#reload()) this.#continueWith(copy);
  }

  #continueWith(copy: Instance): void {
    this.outside.forgetEffects();
    this.#session = restoreSession(this.definition, copy, this.now);
    checkRun(this.#session);
    // Calls of steps that are stopped ended with the node that made them.
    this.#spillRecords();
    this.#text = writeState(this.#session.instance);
    this.logMessages.push(...this.outside.take(this.#session));
  }
}
