/**
 * Runs an instance through the engine as a server would, but at once and alone: no Python, no store, no clock.
 *
 * Expressions are JavaScript (`evaluate.ts`); what effects, workers, events and other instances answer, and how time goes
 * by, is the test's to say. After every entry into the engine the driver
 *   - checks the invariants of `pointer.ts`,
 *   - keeps account of what was asked for outside, which must be exactly what is waited for (E7),
 *   - writes the instance to text and, in reload mode, goes on with what it reads back: nothing may depend on memory.
 */
import { expect } from 'vitest';
import { cancelStep, takeCancelChecks } from '../../../src/engine/failure/cancel.js';
import type { WorkflowDefinition } from '../../../src/engine/model/definition.js';
import { failStep, type Failure } from '../../../src/engine/failure/fail-step.js';
import {
  isEnded,
  type EventPosition,
  type InstanceStatus,
  type WorkflowInstance,
} from '../../../src/engine/model/instance.js';
import type { StepRecord } from '../../../src/engine/model/step-record.js';
import type { Json, JsonObject } from '../../../src/engine/values/json.js';
import { applyStatus, startRun, takeUpRun } from '../../../src/engine/flow/lifecycle.js';
import {
  applyEffect,
  applyMessage,
  type ChildMessage,
  type EffectResult,
  type EventMessage,
  type Message,
} from '../../../src/engine/flow/messages.js';
import { executionKey, type Pointer } from '../../../src/engine/model/pointer.js';
import { noChanges, type ActivityOffer, type Run } from '../../../src/engine/flow/run.js';
import { readState, writeState, type InstanceColumns } from '../../../src/engine/model/snapshot.js';
import {
  enterStep,
  leaveCompensated,
  leaveStep,
  nextWork,
  type StepWork,
} from '../../../src/engine/flow/step-work.js';
import {
  comparePositions,
  eventKey,
  isTaken,
  searchStart,
} from '../../../src/engine/flow/taken-events.js';
import { fireTimers, nextTimer } from '../../../src/engine/flow/timers.js';
import { broken, checkRun, RecordCheck } from './check-invariants.js';
import {
  EvaluationError,
  evaluateCondition,
  evaluateInputs,
  evaluateOutputs,
  type World,
} from './evaluate.js';

/** 2030-01-01T00:00:00Z; instances start here unless the test says otherwise. */
export const START_MS = Date.UTC(2030, 0, 1);

export interface DriverOptions {
  readonly data?: JsonObject;
  /** The variable `world` of expressions: what the test changes behind the engine's back. */
  readonly world?: World;
  /** Whether the instance is written and read back; asked after every entry into the engine. */
  readonly reload?: () => boolean;
  /** More steps without a wait than this end the test: the definition loops for ever. */
  readonly stepsMax?: number;
}

/** Something that runs outside: the body of an HttpRequest or custom step, or the start of another instance. */
export interface Effect {
  readonly stepId: string;
  readonly pointerId: number;
  readonly attempt: number;
  readonly inputs: JsonObject;
}

/** Raised where a definition runs on without ever waiting. */
export class EndlessLoopError extends Error {
  override readonly name = 'EndlessLoopError' as const;
}

export class EngineDriver {
  readonly definition: WorkflowDefinition;
  /** Everything that ended, in order. */
  readonly records: StepRecord[] = [];
  readonly logMessages: Json[] = [];
  /** What was ever asked for, in order: subscriptions, activities, effects by execution key. */
  readonly asked = new Set<string>();
  /** How often the engine asked for a commit before anything else. */
  commitsDue = 0;
  readonly #world: World;
  readonly #reload: () => boolean;
  readonly #stepsMax: number;
  readonly #recordCheck = new RecordCheck();
  readonly #subscriptions = new Set<string>();
  readonly #activities = new Map<string, ActivityOffer>();
  readonly #effects = new Map<number, Effect>();
  readonly #events: EventMessage[] = [];
  /** Children of each compensating pointer, by the place of its plan that they belong to (E8). */
  readonly #compensations = new Map<string, ReadonlySet<number>>();
  #run: Run;
  #text = '';
  #stepsWithoutWait = 0;

  constructor(definition: WorkflowDefinition, options: DriverOptions = {}) {
    this.definition = definition;
    this.#world = options.world ?? {};
    this.#reload = options.reload ?? (() => false);
    this.#stepsMax = options.stepsMax ?? 2000;
    // An instance owns its data; a test may start several with the same.
    const data = structuredClone(options.data ?? {});
    const start = { id: 'w', data, reference: null, parent: null };
    this.#run = startRun(definition, start, START_MS);
    this.#settled();
    this.pump();
  }

  get instance(): WorkflowInstance {
    return this.#run.instance;
  }

  get run(): Run {
    return this.#run;
  }

  get status(): InstanceStatus {
    return this.instance.status;
  }

  get data(): JsonObject {
    return this.instance.data;
  }

  get now(): number {
    return this.#run.now;
  }

  /** The instance as the store would keep it. */
  get text(): string {
    return this.#text;
  }

  // ------------------------------------------------------------ what is seen

  /** The steps that completed, in order. */
  get ran(): readonly string[] {
    return this.records.filter(({ status }) => status === 'Complete').map(({ stepId }) => stepId);
  }

  /** All that ended, as `step status` or `step status #attempt` where it was not the first. */
  get history(): readonly string[] {
    return this.records.map(
      ({ stepId, status, attempt }) => `${stepId} ${status}${attempt === 1 ? '' : ` #${attempt}`}`,
    );
  }

  /** Where the instance stands: `step kind` for each open pointer, oldest first. */
  get open(): readonly string[] {
    return this.pointers.map(({ stepId, state }) => `${stepId} ${state.kind}`);
  }

  get pointers(): readonly Pointer[] {
    return [...this.instance.pointers.values()];
  }

  get subscriptions(): readonly string[] {
    return [...this.#subscriptions];
  }

  get activities(): readonly ActivityOffer[] {
    return [...this.#activities.values()];
  }

  get effects(): readonly Effect[] {
    // By pointer, because a node that takes the instance over starts them in that order.
    return [...this.#effects.values()].sort((a, b) => a.pointerId - b.pointerId);
  }

  /** The one open offer of that name. */
  activity(name: string): ActivityOffer {
    const offers = this.activities.filter((offer) => offer.name === name);
    expect(offers, `open activities named ${name}`).toHaveLength(1);
    return offers[0]!;
  }

  /** The one effect of that step that is under way. */
  effect(stepId: string): Effect {
    const effects = this.effects.filter((effect) => effect.stepId === stepId);
    expect(effects, `effects of ${stepId} under way`).toHaveLength(1);
    return effects[0]!;
  }

  /** The one open pointer at that step. */
  pointer(stepId: string): Pointer {
    const pointers = this.pointers.filter((pointer) => pointer.stepId === stepId);
    expect(pointers, `open pointers at ${stepId}`).toHaveLength(1);
    return pointers[0]!;
  }

  // ------------------------------------------------------------ what happens outside

  /** Publishes an event: it is stored, and delivered where somebody waits. */
  publish(
    name: string,
    key: string,
    data: Json = null,
    options: { readonly id?: string; readonly at?: number } = {},
  ): EventMessage {
    const event: EventMessage = {
      kind: 'event',
      eventId: options.id ?? `event-${this.#events.length + 1}`,
      name,
      key,
      publishedAt: options.at ?? this.now,
      data,
    };
    this.#events.push(event);
    this.#events.sort((a, b) => comparePositions(positionOf(a), positionOf(b)));
    this.deliver(event);
    return event;
  }

  /** Stores an event without telling anybody, as one that was published before. */
  store(name: string, key: string, data: Json, at: number): void {
    const eventId = `event-${this.#events.length + 1}`;
    this.#events.push({ kind: 'event', eventId, name, key, publishedAt: at, data });
    this.#events.sort((a, b) => comparePositions(positionOf(a), positionOf(b)));
  }

  deliver(message: Message): void {
    if (isEnded(this.instance)) return;
    this.#enter(() => {
      applyMessage(this.#run, message);
      // The end of another instance may overtake the answer to its start, which then means nothing any more.
      if (message.kind === 'child' && this.#hasFinished(message.pointerId)) {
        this.#effects.delete(message.pointerId);
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
    end: Pick<ChildMessage, 'status' | 'outcome' | 'error' | 'data'>,
  ): void {
    const { id, attempt, state } = this.pointer(stepId);
    if (state.kind !== 'child') throw new Error(`${stepId} does not wait for another instance`);
    const { workflowId } = state;
    this.deliver({ kind: 'child', pointerId: id, attempt, workflowId, ...end });
  }

  /** Time goes by; everything fires when it is due. */
  advance(seconds: number): void {
    const target = this.now + seconds * 1000;
    for (
      let due = nextTimer(this.#run);
      due !== null && due <= target;
      due = nextTimer(this.#run)
    ) {
      this.#run.now = due;
      this.pump();
    }
    this.#run.now = target;
  }

  /** Time goes by while nobody looks: what became due meanwhile fires afterwards. */
  oversleep(seconds: number): void {
    this.#run.now += seconds * 1000;
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

  /** Terminated with clean-up; a suspended instance is resumed for it. */
  cleanUp(): void {
    if (isEnded(this.instance)) return;
    this.#enter(() => {
      applyMessage(this.#run, { kind: 'clean-up' }, 'Runnable');
    });
    this.pump();
  }

  /** Another node takes the instance over: what was in memory is gone. */
  reload(): void {
    this.#continueWith(readState(columnsOf(this.instance), this.#text));
    this.pump();
  }

  // ------------------------------------------------------------ as a server would

  /** Lets the engine work until everything waits. */
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

  /** What holds once everything waits. */
  #checkRest(): void {
    for (const pointer of this.pointers) {
      const { cancelCondition } = this.definition.steps.get(pointer.stepId)!;
      const isCancelled = pointer.state.kind === 'finishing' && pointer.state.cancelled === true;
      if (cancelCondition === null || isCancelled) continue;
      if (this.#isTrue(pointer, cancelCondition)) broken('a true cancel condition acts', pointer);
    }
  }

  /** Does the next thing that can be done; false when everything waits. */
  #work(): boolean {
    if (this.#checkCancelConditions() || this.#runStep() || this.#lookForEvents()) return true;
    // Timers without a length are due at once; a server would come back to them immediately.
    return this.#fireTimers();
  }

  #fireTimers(): boolean {
    const due = nextTimer(this.#run);
    if (due === null || due > this.now) return false;
    this.#enter(() => {
      fireTimers(this.#run);
    });
    return true;
  }

  #checkCancelConditions(): boolean {
    const checks = takeCancelChecks(this.#run);
    let hasCancelled = false;
    this.#enter(() => {
      for (const { pointer, condition } of checks) {
        if (!this.#isTrue(pointer, condition)) continue;
        hasCancelled = true;
        cancelStep(this.#run, pointer);
      }
    });
    return hasCancelled;
  }

  #isTrue(pointer: Pointer, condition: Parameters<typeof evaluateCondition>[2]): boolean {
    try {
      return evaluateCondition(this.instance, pointer, condition, this.#world);
    } catch (error) {
      if (error instanceof EvaluationError) return false;
      throw error;
    }
  }

  #runStep(): boolean {
    return this.#enter(() => {
      const work = nextWork(this.#run);
      if (work === null) return false;
      try {
        this.#apply(work);
      } catch (error) {
        if (!(error instanceof EvaluationError)) throw error;
        failStep(this.#run, work.pointer, { type: 'EvaluationError', message: error.message });
      }
      return true;
    });
  }

  #apply(work: StepWork): void {
    if (work.kind === 'inputs') {
      const inputs = evaluateInputs(this.instance, work, this.#world);
      enterStep(this.#run, work.pointer, inputs, inputs);
    } else if (work.kind === 'selectors') {
      const { pointer, selectors } = work;
      const selected = selectors.filter(({ condition }) => this.#isTrue(pointer, condition));
      leaveCompensated(
        this.#run,
        pointer,
        selected.map(({ stepId }) => stepId),
      );
    } else {
      leaveStep(this.#run, work.pointer, evaluateOutputs(this.instance, work, this.#world));
    }
  }

  /** What a server does once a subscription is in the store: events may have been published before. */
  #lookForEvents(): boolean {
    for (const pointer of this.pointers) {
      const { state } = pointer;
      if (state.kind !== 'event' || state.looked) continue;
      this.#enter(() => {
        pointer.state = { ...state, looked: true };
        this.#run.dirty = true;
        const event = this.#firstStored(eventKey(state.name, state.key), state.effectiveAt);
        if (event !== undefined) applyMessage(this.#run, event);
      });
      return true;
    }
    return false;
  }

  #firstStored(key: string, effectiveAt: number): EventMessage | undefined {
    const start = searchStart(this.instance, key, effectiveAt);
    return this.#events.find(
      (event) =>
        eventKey(event.name, event.key) === key &&
        comparePositions(positionOf(event), start) > 0 &&
        !isTaken(this.instance, key, positionOf(event)),
    );
  }

  #applyEffect(effect: Effect, result: EffectResult): void {
    if (this.#effects.get(effect.pointerId)?.attempt === effect.attempt) {
      this.#effects.delete(effect.pointerId);
    }
    this.#enter(() => {
      applyEffect(this.#run, effect, result);
    });
    this.pump();
  }

  #control(status: InstanceStatus): void {
    this.#enter(() => {
      applyStatus(this.#run, status, this.now);
    });
    this.pump();
  }

  // ------------------------------------------------------------ after every entry

  #enter<Result>(call: () => Result): Result {
    this.#run.dirty = false;
    const result = call();
    this.#settled();
    return result;
  }

  #settled(): void {
    checkRun(this.#run);
    if (this.#run.commitDue) this.commitsDue += 1;
    this.#run.commitDue = false;
    this.#takeChanges();
    this.#checkCompensations();
    this.#spillRecords();
    this.#checkText();
  }

  #takeChanges(): void {
    const { changes, instance } = this.#run;
    for (const { id } of changes.subscriptions) {
      if (this.asked.has(`event ${id}`)) broken('E7: a subscription is asked for once', id);
      this.asked.add(`event ${id}`);
      this.#subscriptions.add(id);
    }
    for (const id of changes.removedSubscriptions) {
      if (!this.#subscriptions.delete(id)) broken('E7: a subscription is given up once', id);
    }
    for (const offer of changes.activities) {
      if (this.asked.has(`activity ${offer.id}`)) broken('E7: work is offered once', offer);
      this.asked.add(`activity ${offer.id}`);
      this.#activities.set(offer.id, offer);
    }
    for (const id of changes.removedActivities) {
      if (!this.#activities.delete(id)) broken('E7: work is withdrawn once', id);
    }
    for (const id of changes.settledActivities) this.#activities.delete(id);
    for (const pointerId of changes.abortedEffects) this.#effects.delete(pointerId);
    for (const pointerId of changes.effects) {
      const pointer = instance.pointers.get(pointerId);
      if (pointer !== undefined) this.#startEffect(pointer);
    }
    this.logMessages.push(...changes.logLines.map(({ message }) => message));
    Object.assign(changes, noChanges());
    this.#checkWaits();
  }

  #startEffect(pointer: Pointer): void {
    const { id: pointerId, attempt, stepId, state } = pointer;
    if (state.kind !== 'effect' && state.kind !== 'child') return;
    if (this.#effects.get(pointerId)?.attempt === attempt) return;
    this.asked.add(`effect ${executionKey(this.instance.id, pointer)}`);
    this.#effects.set(pointerId, { pointerId, attempt, stepId, inputs: state.inputs });
  }

  #checkWaits(): void {
    const wanted = { event: new Set<string>(), activity: new Set<string>() };
    const effects = new Set<string>();
    for (const pointer of this.pointers) {
      const { state } = pointer;
      const key = executionKey(this.instance.id, pointer);
      if (state.kind === 'event' || state.kind === 'activity') wanted[state.kind].add(key);
      const runs = state.kind === 'effect' || (state.kind === 'child' && !state.started);
      if (runs) effects.add(`${pointer.id}/${pointer.attempt}`);
    }
    const underWay = this.effects.map(({ pointerId, attempt }) => `${pointerId}/${attempt}`);
    checkSame('E7: subscriptions are those of waiting steps', this.#subscriptions, wanted.event);
    checkSame('E7: activities are those of waiting steps', this.#activities, wanted.activity);
    checkSame('effects under way are those of waiting steps', new Set(underWay), effects);
  }

  /** E8: nothing of one compensation is open any more when the next one begins. */
  #checkCompensations(): void {
    for (const { id, attempt, state } of this.pointers) {
      if (state.kind !== 'compensating') continue;
      const children = this.pointers.filter(({ parentId }) => parentId === id);
      const before = this.#compensations.get(`${id}/${attempt}/${state.next - 1}`);
      if (children.some((child) => before?.has(child.id) === true)) {
        broken('E8: compensations run one after another', children);
      }
      const ids = new Set(children.map((child) => child.id));
      this.#compensations.set(`${id}/${attempt}/${state.next}`, ids);
    }
  }

  #spillRecords(): void {
    const { instance } = this.#run;
    for (const record of instance.recent) this.#recordCheck.add(record);
    this.records.push(...instance.recent);
    instance.spilled += instance.recent.length;
    instance.recent = [];
    if (isEnded(instance)) this.#recordCheck.checkAllRecorded(instance.nextPointerId - 1);
  }

  #checkText(): void {
    const { instance, dirty } = this.#run;
    const text = writeState(instance);
    const changed = text !== this.#text;
    this.#text = text;
    if (changed && !dirty) broken('what changed is dirty', this.open);
    const copy = readState(columnsOf(instance), text);
    if (writeState(copy) !== text) broken('what is written can be read back', text);
    if (this.#reload()) this.#continueWith(copy);
  }

  #continueWith(copy: WorkflowInstance): void {
    // They died with the node that ran them; the new one has to be told to start them again.
    this.#effects.clear();
    this.#run = takeUpRun(this.definition, copy, this.now);
    checkRun(this.#run);
    this.#takeChanges();
  }
}

function columnsOf(instance: WorkflowInstance): InstanceColumns {
  const { id, definitionId, version, reference, status, startTime, endTime, outcome } = instance;
  return { id, definitionId, version, reference, status, startTime, endTime, outcome };
}

function positionOf(event: EventMessage): EventPosition {
  return { publishedAt: event.publishedAt, id: event.eventId };
}

function checkSame(
  promise: string,
  actual: ReadonlySet<string> | ReadonlyMap<string, unknown>,
  wanted: ReadonlySet<string>,
): void {
  const isSame = actual.size === wanted.size && [...wanted].every((key) => actual.has(key));
  if (!isSame) broken(promise, { actual: [...actual.keys()], wanted: [...wanted] });
}
