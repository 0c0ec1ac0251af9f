/** The environment that a node's instances share: turns, step bodies, and delivery to other instances. */
import type { WorkflowDefinition } from '../../engine/model/definition.js';
import type { IndexPaths } from '../../engine/values/index-fields.js';
import type { OutboxMessage, Instance } from '../../engine/model/instance.js';
import type { ChildMessage } from '../../engine/flow/child-end.js';
import type { EffectResult, EventMessage } from '../../engine/flow/messages.js';
import { rootOf } from '../../engine/model/child-id.js';
import { idempotencyKey, type Pointer } from '../../engine/model/pointer.js';
import { stepOf, type Session } from '../../engine/session/session.js';
import type { Clock } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import type { StepBodyContext } from '../../step-bodies/step-body.js';
import type { StepBodies } from '../../step-bodies/step-bodies.js';
import type { Store } from '../../store/store.js';
import type { RuntimeMetrics } from '../fleet/runtime-metrics.js';
import type { Announcement, ChangeAnnouncer } from '../notifications/change-announcer.js';
import type { Evaluator } from '../passes/evaluator.js';
import { ChangeTimes } from './change-times.js';
import { ChildStarts, type StartChild } from './child-starts.js';
import { EventLookup } from './event-lookup.js';
import { ItemWithdrawal } from './item-withdrawal.js';
import { LikelyRefusals } from './likely-refusals.js';
import type { ChildReference } from '../instance-state/message-codec.js';
import { Outbox, type OutboxOptions } from './outbox.js';
import type { Tracing } from '../../tracing/tracing.js';
import { traceCall } from '../tracing/call-span.js';
import { InstanceSpans } from '../tracing/instance-spans.js';
import { instanceSpan } from '../tracing/span-names.js';
import type { RunnerEnvironment, RunnerLimits } from './runner-environment.js';
import { StoreRetry } from './store-retry.js';
import { WorkTurns } from './work-turns.js';
import type { WorkerReservations } from '../instance-state/unsaved-changes.js';

type FindDefinition = (id: string, version: number) => Promise<WorkflowDefinition | null>;

export interface NodeEnvironmentOptions extends Pick<
  OutboxOptions,
  'posted' | 'controlled' | 'lookAtLimits'
> {
  readonly announcer: ChangeAnnouncer;
  readonly node: { readonly id: string };
  readonly store: Store;
  readonly clock: Clock;
  readonly evaluator: Evaluator;
  readonly logger: Logger;
  readonly limits: RunnerLimits;
  readonly metrics: RuntimeMetrics;
  readonly workers: WorkerReservations;
  readonly bodies: StepBodies;
  readonly startChild: StartChild;
  readonly placesOf: OutboxOptions['placesOf'];
  readonly tracing?: Tracing;
  readonly indexPaths: RunnerEnvironment['indexPaths'];
  readonly findDefinition: FindDefinition;
}

export class NodeEnvironment implements RunnerEnvironment {
  readonly nodeId: string;
  readonly store: Store;
  readonly clock: Clock;
  readonly changeTimes: ChangeTimes;
  readonly evaluator: Evaluator;
  readonly logger: Logger;
  readonly limits: RunnerLimits;
  readonly metrics: RuntimeMetrics;
  readonly workers: WorkerReservations;
  readonly likelyRefusals: LikelyRefusals;
  readonly #bodies: StepBodies;
  readonly #turns: WorkTurns;
  readonly #childStarts: ChildStarts;
  readonly #announcer: ChangeAnnouncer;
  readonly #outbox: Outbox;
  readonly #events: EventLookup;
  readonly #items: ItemWithdrawal;
  readonly #retry: StoreRetry;
  readonly #indexPaths: RunnerEnvironment['indexPaths'];
  readonly #findDefinition: FindDefinition;
  readonly #tracing: Tracing | undefined;

  constructor(options: NodeEnvironmentOptions) {
    const { clock, store } = options;
    this.nodeId = options.node.id;
    this.store = store;
    this.clock = clock;
    this.changeTimes = new ChangeTimes(clock);
    this.evaluator = options.evaluator;
    this.logger = options.logger;
    this.limits = options.limits;
    this.metrics = options.metrics;
    this.workers = options.workers;
    this.likelyRefusals = new LikelyRefusals(clock);
    this.#bodies = options.bodies;
    this.#indexPaths = options.indexPaths;
    this.#findDefinition = options.findDefinition;
    this.#tracing = options.tracing;
    this.#turns = new WorkTurns(options.limits.concurrencyMax);
    this.#childStarts = new ChildStarts(options);
    this.#announcer = options.announcer;
    this.#outbox = new Outbox(options);
    this.#retry = new StoreRetry(clock);
    this.#events = new EventLookup(store, clock, this.#retry);
    this.#items = new ItemWithdrawal(store, clock, this.#retry);
  }

  indexPaths(definition: WorkflowDefinition): IndexPaths | Promise<IndexPaths> {
    return this.#indexPaths(definition);
  }

  /** Number of instances waiting for a turn. */
  get queued(): number {
    return this.#turns.waiting;
  }

  takeTurn(instance: Instance): Promise<() => void> {
    return this.#turns.take(rootOf(instance), instance.id);
  }

  takeAllTurns(instanceId: string): Promise<() => void> {
    return this.#turns.takeAll(instanceId);
  }

  async runBody(
    session: Session,
    pointer: Pointer,
    context: Pick<StepBodyContext, 'signal' | 'retain'>,
  ): Promise<EffectResult | null> {
    const { instance } = session;
    const { state } = pointer;
    if (state.kind === 'child') return this.#childStarts.start(instance, pointer, state);
    const inputs = state.kind === 'effect' ? state.inputs : {};
    const tracing = this.#tracing;
    return traceCall({ tracing, clock: this.clock, session, pointer }, (trace) =>
      this.#bodies.run(stepOf(session, pointer), inputs, {
        workflowId: instance.id,
        definitionId: instance.definitionId,
        stepId: pointer.stepId,
        attempt: pointer.attempt,
        idempotencyKey: idempotencyKey(instance.id, pointer),
        ...(trace !== undefined && { trace }),
        ...context,
      }),
    );
  }

  traced<Result>({ id, trace }: Instance, call: () => Result): Result {
    const calls = this.#tracing?.storeCalls ?? null;
    if (calls === null || trace === undefined) return call();
    return calls.within(instanceSpan(trace, id), call);
  }

  takenOver(instance: Instance, definition: WorkflowDefinition): void {
    if (this.#tracing !== undefined)
      new InstanceSpans(this.#tracing).takenOver(instance, definition);
  }

  loadEvent(eventId: string): Promise<EventMessage | null> {
    return this.#events.load(eventId);
  }

  loadEnd(reference: ChildReference): Promise<ChildMessage> {
    return this.#retry.untilAnswered(() => this.#outbox.loadEnd(reference));
  }

  async loadDefinition(id: string, version: number): Promise<WorkflowDefinition> {
    const found = await this.#retry.untilAnswered(() => this.#findDefinition(id, version));
    if (found === null) throw new Error(`version ${version} of the definition ${id} is missing`);
    return found;
  }

  lookForEvents(session: Session, hasRoom: (bytes: number) => boolean): Promise<boolean> {
    return this.#events.search(session, hasRoom);
  }

  withdrawItems(session: Session): Promise<boolean> {
    return this.#items.withdraw(session);
  }

  announce(instance: Instance): Announcement {
    return this.#announcer.announce(instance);
  }

  /** A new version may allow more instances at a time. A place that isn't granted here is when the next one ends. */
  grantAllPlaces(definitionId: string): void {
    const granted = this.#retry.untilAnswered(() => this.#outbox.grantAllPlaces(definitionId));
    granted.catch((error: unknown) => {
      this.logger.error({ err: error, definitionId }, 'could not let waiting runs begin');
    });
  }

  sendOutbox(instance: Instance, message: OutboxMessage): Promise<void> {
    return this.#retry.untilAnswered(() => this.#outbox.send(instance, message));
  }

  retryStore<Value>(ask: () => Promise<Value>, isCanceled: () => boolean): Promise<Value | null> {
    return this.#retry.untilAnswered(ask, isCanceled);
  }
}
