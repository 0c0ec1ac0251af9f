/** What an instance actor needs of the node around it. */
import type { WorkflowInstance, OutboxMessage } from '../../engine/model/instance.js';
import type { EffectResult, EventMessage } from '../../engine/flow/messages.js';
import type { Pointer } from '../../engine/model/pointer.js';
import type { Run } from '../../engine/flow/run.js';
import type { Logger } from '../../base/logger.js';
import type { Store } from '../../store/store.js';
import type { Clock } from '../../base/clock.js';
import type { Evaluator } from '../passes/evaluator.js';
import type { InstanceActor } from './instance-actor.js';
import type { RuntimeMetrics } from '../fleet/runtime-metrics.js';
import type { UnsavedChanges, WorkerReservations } from './unsaved-changes.js';

export interface RunnerLimits {
  /** Steps that an instance may run without waiting for anything before it is suspended. */
  readonly stepsWithoutWaitMax: number;
  /** Steps of an instance that may be open at the same time before it is suspended. */
  readonly openStepsMax: number;
  /** Characters that the stored state of an instance may have; one that would have more is suspended as it was before. */
  readonly instanceLengthMax: number;
  /** Instances that work at the same time. */
  readonly concurrencyMax: number;
  /** Parked instances that are kept in memory. */
  readonly parkedMax: number;
  /** Instances that descend from one that a client started, and are open at the same time. */
  readonly descendantsMax: number;
  /** Memory that instances may take together. */
  readonly instanceMemoryMax: number;
}

export interface ActorEnvironment {
  readonly store: Store;
  readonly clock: Clock;
  readonly evaluator: Evaluator;
  readonly logger: Logger;
  readonly limits: RunnerLimits;
  readonly metrics: RuntimeMetrics;
  readonly workers: WorkerReservations;

  /** Waits for the right to work, which instances of one root share; the answer gives it back. */
  takeTurn(instance: WorkflowInstance): Promise<() => void>;
  /** Waits until nobody works, and lets this instance alone work until the answer is called. */
  takeAllTurns(instanceId: string): Promise<() => void>;
  /** Runs the body of a step that left the engine. Null: it is left to the next node, as this one stops. */
  runBody(run: Run, pointer: Pointer, signal: AbortSignal): Promise<EffectResult | null>;
  loadEvent(eventId: string): Promise<EventMessage | null>;
  /**
   * Looks for stored events that waits have not looked for yet; true when one was taken. A wait for which there is no
   * room has not looked afterwards.
   *
   * @param hasRoom whether an event that takes so many bytes may come into memory now
   */
  lookForEvents(run: Run, hasRoom: (bytes: number) => boolean): Promise<boolean>;
  /** Whether the instance may take so many bytes of memory, all in all. If not, it should leave, and waits its turn. */
  mayGrow(actor: InstanceActor, bytes: number): boolean;
  sendOutbox(instance: WorkflowInstance, message: OutboxMessage): Promise<void>;
  /** Asks the store again and again, with pauses, until it answers or `cancelled` is true. */
  retryStore<Value>(ask: () => Promise<Value>, cancelled: () => boolean): Promise<Value | null>;

  /** A commit is durable. */
  committed(actor: InstanceActor, saved: UnsavedChanges): void;
  parked(actor: InstanceActor): void;
  /** The actor has ended without ending its instance; `outdated`: it is still ours, and is read again. */
  abandoned(actor: InstanceActor, outdated: boolean): void;
  /** The instance cannot be run on; it is set aside where others are not harmed. */
  failed(actor: InstanceActor, error: unknown): Promise<void>;
}
