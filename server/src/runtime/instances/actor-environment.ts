/** What an instance actor needs of the node around it. Who has the actor in memory is told apart: `ActorOwner`. */
import type { OutboxMessage, WorkflowInstance } from '../../engine/model/instance.js';
import type { EffectResult, EventMessage } from '../../engine/flow/messages.js';
import type { Pointer } from '../../engine/model/pointer.js';
import type { Run } from '../../engine/flow/run.js';
import type { Logger } from '../../base/logger.js';
import type { Store } from '../../store/store.js';
import type { Clock } from '../../base/clock.js';
import type { Evaluator } from '../passes/evaluator.js';
import type { RuntimeMetrics } from '../fleet/runtime-metrics.js';
import type { WorkerReservations } from './unsaved-changes.js';

export interface ActorLimits {
  /** Steps that an instance may run without waiting for anything before it is suspended. */
  readonly stepsWithoutWaitMax: number;
  /** Steps of an instance that may be open at the same time before it is suspended. */
  readonly openStepsMax: number;
  /** Bytes that the stored state of an instance may have; one that would have more is suspended as it was before. */
  readonly instanceLengthMax: number;
}

export interface ActorEnvironment {
  readonly store: Pick<Store, 'commitInstance' | 'getInstance'>;
  readonly clock: Clock;
  readonly evaluator: Evaluator;
  readonly logger: Logger;
  readonly limits: ActorLimits;
  readonly metrics: Pick<RuntimeMetrics, 'commitLost' | 'fenced'>;
  readonly workers: WorkerReservations;

  /** Waits for the right to work, which instances of one root share; the answer gives it back. */
  takeTurn(instance: WorkflowInstance): Promise<() => void>;
  /** Runs the body of a step that left the engine. Null: it is left to the next node, as this one stops. */
  runBody(run: Run, pointer: Pointer, signal: AbortSignal): Promise<EffectResult | null>;
  /** Null: the event is gone. */
  loadEvent(eventId: string): Promise<EventMessage | null>;
  /**
   * Looks for stored events that waits have not looked for yet; true when one was taken. A wait for which there is no
   * room has not looked afterwards.
   *
   * @param hasRoom whether an event that takes so many bytes may come into memory now
   */
  lookForEvents(run: Run, hasRoom: (bytes: number) => boolean): Promise<boolean>;
  sendOutbox(instance: WorkflowInstance, message: OutboxMessage): Promise<void>;
  /** Asks the store again and again, with pauses, until it answers or `cancelled` is true: then the answer is null. */
  retryStore<Value>(ask: () => Promise<Value>, cancelled: () => boolean): Promise<Value | null>;
}
