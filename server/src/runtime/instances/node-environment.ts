/** What the actors of a node share: turns to work, bodies of steps, the way to other instances. */
import { traitsOf } from '../../engine/definitions/step-types.js';
import { parentLinkOf, rootOf } from '../../engine/model/child-id.js';
import { readJson } from '../../engine/values/exact-json.js';
import type { OutboxMessage, ParentLink, WorkflowInstance } from '../../engine/model/instance.js';
import type { JsonObject } from '../../engine/values/json.js';
import {
  applyMessage,
  type ChildMessage,
  type EffectResult,
  type EventMessage,
} from '../../engine/flow/messages.js';
import { idempotencyKey, type Pointer } from '../../engine/model/pointer.js';
import { stepOf, type Run } from '../../engine/flow/run.js';
import { eventKey, isTaken, searchStart } from '../../engine/flow/taken-events.js';
import { AppError } from '../../base/errors.js';
import type { Logger } from '../../base/logger.js';
import type { CustomStepBody } from '../../step-bodies/custom-step.js';
import type { StepBody, StepBodyContext } from '../../step-bodies/step-body.js';
import { StoreUnavailableError, type Store } from '../../store/store.js';
import type { FoundEvent } from '../../store/records/events.js';
import type { ActivityBroker } from '../activities/activity-broker.js';
import type { ActorEnvironment, RunnerLimits } from './actor-environment.js';
import type { ChangeFeed } from '../changes/change-feed.js';
import type { Clock } from '../../base/clock.js';
import { tooManyDescendants } from './descendants.js';
import { EmittedLines } from '../passes/emitted-lines.js';
import type { Evaluator } from '../passes/evaluator.js';
import { FailedAttemptsLog } from '../passes/failed-attempts-log.js';
import type { InstanceView } from '../operations/instance-types.js';
import { nameKeyOf } from '../../base/ids.js';
import type { InstanceActor } from './instance-actor.js';
import type { InstanceRunner } from './instance-runner.js';
import { viewCommitted } from '../operations/instance-views.js';
import { inboxMessage, UNREAD_EVENT_COST } from './message-codec.js';
import type { RuntimeMetrics } from '../fleet/runtime-metrics.js';
import { terminationWith } from './terminated-child.js';
import { compensateInstance } from '../operations/termination.js';
import { Turns } from '../../base/turns.js';
import type { UnsavedChanges } from './unsaved-changes.js';

const EVENT_PAGE = 50;
/** Starts by steps that are under way at the same time. */
const CHILD_STARTS_MAX = 32;
const STORE_RETRY_MS_MIN = 50;
const STORE_RETRY_MS_MAX = 2000;

export interface NodeEnvironmentOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly evaluator: Evaluator;
  readonly logger: Logger;
  readonly limits: RunnerLimits;
  readonly metrics: RuntimeMetrics;
  /** Lines that the EmitLog steps of one definition may write in a second. */
  readonly emitLinesPerSecondMax: number;
  readonly broker: ActivityBroker;
  readonly httpRequest: StepBody;
  readonly customStep: CustomStepBody;
  /** `full`: the workflow at the top has as many open descendants as it may have. */
  readonly startChild: (inputs: JsonObject, start: ChildStart) => Promise<'started' | 'full'>;
  /** @param view how it ended; null when that has to be looked up */
  readonly ended: (instanceId: string, view: () => InstanceView | null) => void;
  readonly changes: ChangeFeed;
  /** Built with this environment, so it can only be asked for later. */
  readonly runner: () => InstanceRunner;
}

export interface ChildStart {
  readonly workflowId: string;
  readonly parent: ParentLink;
}

export class NodeEnvironment implements ActorEnvironment {
  readonly store: Store;
  readonly clock: Clock;
  readonly evaluator: Evaluator;
  readonly logger: Logger;
  readonly limits: RunnerLimits;
  readonly metrics: RuntimeMetrics;
  readonly workers: ActivityBroker;
  readonly #options: NodeEnvironmentOptions;
  readonly #turns: Turns;
  /** A Foreach may start thousands at once: they must not hold up what others ask the store for. */
  readonly #childStarts = new Turns(CHILD_STARTS_MAX);
  readonly #emitted: EmittedLines;
  readonly #failedAttempts: FailedAttemptsLog;
  readonly #loadingEvents = new Map<string, Promise<EventMessage | null>>();
  #callsUnderWay = 0;

  constructor(options: NodeEnvironmentOptions) {
    this.#options = options;
    this.store = options.store;
    this.clock = options.clock;
    this.evaluator = options.evaluator;
    this.logger = options.logger;
    this.limits = options.limits;
    this.metrics = options.metrics;
    this.workers = options.broker;
    this.#turns = new Turns(options.limits.concurrencyMax);
    this.#emitted = new EmittedLines({
      ...options,
      linesPerSecondMax: options.emitLinesPerSecondMax,
    });
    this.#failedAttempts = new FailedAttemptsLog(options);
  }

  /** HTTP calls and scripts. */
  get callsUnderWay(): number {
    return this.#callsUnderWay;
  }

  get queued(): number {
    return this.#turns.queued;
  }

  /** Writes what the log has held back. */
  stop(): void {
    this.#emitted.stop();
    this.#failedAttempts.stop();
  }

  takeTurn(instance: WorkflowInstance): Promise<() => void> {
    return this.#turns.take(instance.id, rootOf(instance));
  }

  takeAllTurns(instanceId: string): Promise<() => void> {
    return this.#turns.takeAll(instanceId);
  }

  async runBody(run: Run, pointer: Pointer, signal: AbortSignal): Promise<EffectResult | null> {
    const { state } = pointer;
    if (state.kind === 'child') return this.#startChild(run, pointer, state);
    const step = stepOf(run, pointer);
    const context: StepBodyContext = {
      workflowId: run.instance.id,
      definitionId: run.instance.definitionId,
      stepId: pointer.stepId,
      attempt: pointer.attempt,
      idempotencyKey: idempotencyKey(run.instance.id, pointer),
      signal,
    };
    const inputs = state.kind === 'effect' ? state.inputs : {};
    const { customStep, httpRequest } = this.#options;
    this.#callsUnderWay += 1;
    try {
      return await (traitsOf(step).body === 'http'
        ? httpRequest.run(inputs, context)
        : customStep.run(step.typeName, inputs, context));
    } finally {
      this.#callsUnderWay -= 1;
    }
  }

  /** Those who ask for the same event at the same time share it. */
  loadEvent(eventId: string): Promise<EventMessage | null> {
    const known = this.#loadingEvents.get(eventId);
    if (known !== undefined) return known;
    const loading = this.retryStore(
      () => this.store.getEvent(eventId),
      () => false,
    )
      .then((event) => (event === null ? null : eventOf(event, event.data)))
      .finally(() => this.#loadingEvents.delete(eventId));
    this.#loadingEvents.set(eventId, loading);
    return loading;
  }

  mayGrow(actor: InstanceActor, bytes: number): boolean {
    return this.#options.runner().mayGrow(actor, bytes);
  }

  async lookForEvents(run: Run, hasRoom: (bytes: number) => boolean): Promise<boolean> {
    let taken = false;
    for (const pointer of [...run.instance.pointers.values()]) {
      const { state } = pointer;
      if (state.kind !== 'event' || state.looked) continue;
      const found = await this.#findEvent(run.instance, state);
      if (found?.data === null && !hasRoom(UNREAD_EVENT_COST)) continue;
      const event = found === null ? null : await this.#read(found);
      // A message cannot have come between: the actor takes messages in only at the start of a stretch.
      pointer.state = { ...state, looked: true };
      if (event === null) continue;
      run.now = this.clock.now();
      applyMessage(run, event);
      taken = true;
    }
    return taken;
  }

  async sendOutbox(instance: WorkflowInstance, message: OutboxMessage): Promise<void> {
    await this.retryStore(
      () => this.#send(instance, message),
      () => false,
    );
  }

  async retryStore<Value>(
    ask: () => Promise<Value>,
    cancelled: () => boolean,
  ): Promise<Value | null> {
    for (let pauseMs = STORE_RETRY_MS_MIN; ; pauseMs = Math.min(pauseMs * 2, STORE_RETRY_MS_MAX)) {
      if (cancelled()) return null;
      try {
        return await ask();
      } catch (error) {
        if (!(error instanceof StoreUnavailableError)) throw error;
      }
      await new Promise<void>((resolve) => {
        this.clock.at(this.clock.now() + pauseMs, resolve);
      });
    }
  }

  committed(actor: InstanceActor, saved: UnsavedChanges): void {
    const { instance } = actor.run;
    const { definitionId, id: workflowId } = instance;
    for (const line of saved.logLines) this.#emitted.write({ workflowId, definitionId, ...line });
    this.#failedAttempts.note(instance, saved.failedAttempts);
    for (const attempt of saved.endedAttempts) this.metrics.attemptEnded(attempt);
    this.workers.created(saved.side.activities);
    this.#options.runner().committed(actor);
    this.#options.changes.committed(instance);
    if (instance.status === 'Complete' || instance.status === 'Terminated') {
      this.metrics.workflowEnded(instance.status, instance.outcome ?? '');
      const { committedAt } = actor;
      this.#options.ended(instance.id, () =>
        committedAt === null ? null : viewCommitted(instance, committedAt),
      );
    }
  }

  parked(actor: InstanceActor): void {
    this.#options.runner().parked(actor);
  }

  abandoned(actor: InstanceActor, outdated: boolean): void {
    this.#options.runner().abandoned(actor, outdated);
  }

  async failed(actor: InstanceActor, error: unknown): Promise<void> {
    await this.retryStore(
      () => this.#options.runner().failed(actor, error),
      () => false,
    );
  }

  #read(event: FoundEvent): Promise<EventMessage | null> {
    const { data, id } = event;
    return data === null ? this.loadEvent(id) : Promise.resolve(eventOf(event, data));
  }

  async #findEvent(
    instance: WorkflowInstance,
    wait: Extract<Pointer['state'], { kind: 'event' }>,
  ): Promise<FoundEvent | null> {
    const key = eventKey(wait.name, wait.key);
    let from = searchStart(instance, key, wait.effectiveAt);
    for (;;) {
      const position = from;
      const page = await this.retryStore(
        () => this.store.findEvents(nameKeyOf(wait.name, wait.key), position, EVENT_PAGE),
        () => false,
      );
      const event = page?.find((candidate) => !isTaken(instance, key, candidate));
      if (event !== undefined) return event;
      const last = page?.at(-1);
      if (last === undefined || (page?.length ?? 0) < EVENT_PAGE) return null;
      from = last;
    }
  }

  async #startChild(
    run: Run,
    pointer: Pointer,
    state: Extract<Pointer['state'], { kind: 'child' }>,
  ): Promise<EffectResult | null> {
    const parent = parentLinkOf(run.instance, pointer, state.wait);
    const end = await this.#childStarts.take(state.workflowId, rootOf(run.instance));
    try {
      const start = { workflowId: state.workflowId, parent };
      const outcome = await this.#options.startChild(state.inputs, start);
      if (outcome === 'started') return { ok: true, values: {} };
      this.metrics.descendantRefused();
      const message = tooManyDescendants(rootOf(run.instance), this.limits.descendantsMax);
      return { ok: false, failure: { type: 'TooManyDescendants', message } };
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      // That is no answer to the step: the next node starts the child.
      if (error.code === 'stopping') return null;
      return { ok: false, failure: { type: 'SubWorkflowFailed', message: error.message } };
    } finally {
      end();
    }
  }

  async #send(instance: WorkflowInstance, message: OutboxMessage): Promise<void> {
    if (message.kind === 'terminate-child') return this.#terminateChild(instance, message);
    const { attempt, parentId, pointerId } = message;
    const inbox = inboxMessage(`child/${instance.id}`, {
      kind: 'child',
      pointerId,
      attempt,
      workflowId: instance.id,
      status: instance.status,
      ...endOf(instance),
      data: instance.data,
    });
    const [posted] = await this.store.postMessages([{ instanceId: parentId, message: inbox }]);
    if (posted !== null && posted !== undefined) this.#options.runner().posted(posted, inbox);
  }

  async #terminateChild(
    parent: WorkflowInstance,
    { compensate, workflowId }: Extract<OutboxMessage, { kind: 'terminate-child' }>,
  ): Promise<void> {
    const { clock, store } = this;
    const audit = terminationWith(parent, await store.listAudit(parent.id), clock.now());
    const result =
      compensate === true
        ? await compensateInstance(store, workflowId, audit)
        : await store.controlInstance(workflowId, 'terminate', audit.time, audit);
    if (result.outcome === 'done') this.#options.runner().controlled(result.record);
  }
}

/** How an instance ended and why, as its parent is told. */
function endOf({ lastError, outcome }: WorkflowInstance): Pick<ChildMessage, 'outcome' | 'error'> {
  if (lastError === null) return { ...(outcome !== null && { outcome }), error: null };
  const { data, message, stepId, type } = lastError;
  return { ...(outcome !== null && { outcome }), error: { stepId, type, message, data } };
}

function eventOf(event: FoundEvent, text: string): EventMessage {
  const { id: eventId, key, name, publishedAt } = event;
  const data = readJson(text); // Stored by us as JSON.
  return { kind: 'event', eventId, name, key, publishedAt, data };
}
