/** The environment of an instance actor on its node. `ActorOwner` is separate: it is notified of the actor's state. */
import type { WorkflowDefinition } from '../../engine/model/definition.js';
import type { IndexPaths } from '../../engine/values/index-fields.js';
import type { OutboxMessage, Instance } from '../../engine/model/instance.js';
import type { ChildMessage } from '../../engine/flow/child-end.js';
import type { EffectResult, EventMessage } from '../../engine/flow/messages.js';
import type { Pointer } from '../../engine/model/pointer.js';
import type { Session } from '../../engine/session/session.js';
import type { StepBodyContext } from '../../step-bodies/step-body.js';
import type { Store } from '../../store/store.js';
import type { PassEnvironment, PassLimits } from '../passes/pass-environment.js';
import type { RuntimeMetrics } from '../fleet/runtime-metrics.js';
import type { Announcement } from '../notifications/change-announcer.js';
import type { ChangeTimes } from './change-times.js';
import type { LikelyRefusals } from './likely-refusals.js';
import type { ChildReference } from '../instance-state/message-codec.js';
import type { WorkerReservations } from '../instance-state/unsaved-changes.js';

export interface ActorLimits extends PassLimits {
  /**
   * Maximum size of an instance's stored state, in bytes. An instance that exceeds it is suspended in its previous state.
   */
  readonly instanceLengthMax: number;
}

export interface ActorEnvironment extends PassEnvironment {
  /** The owner of the instances that this node runs. */
  readonly nodeId: string;
  readonly store: Pick<Store, 'commitInstance' | 'getInstance'>;
  /** The times of instance changes, which never go back with the clock. */
  readonly changeTimes: Pick<ChangeTimes, 'now'>;
  readonly limits: ActorLimits;
  readonly metrics: Pick<RuntimeMetrics, 'commitLost' | 'fenced'>;
  readonly workers: WorkerReservations;
  readonly likelyRefusals: LikelyRefusals;

  /** The index fields that apply to instances of this definition now: its newest version's. */
  indexPaths(definition: WorkflowDefinition): IndexPaths | Promise<IndexPaths>;
  /** Waits for a turn. Instances of one root share their turns. The returned function ends the turn. */
  takeTurn(instance: Instance): Promise<() => void>;
  /**
   * Runs the body of a step outside the engine. Returns null if this node is stopping and leaves the work to the next one.
   */
  runBody(
    session: Session,
    pointer: Pointer,
    context: Pick<StepBodyContext, 'signal' | 'retain'>,
  ): Promise<EffectResult | null>;
  /** Makes a store call as part of the instance's trace. */
  traced<Result>(instance: Instance, call: () => Result): Result;
  /** Returns null if the event no longer exists. */
  loadEvent(eventId: string): Promise<EventMessage | null>;
  loadEnd(reference: ChildReference): Promise<ChildMessage>;
  /** Versions are never removed. */
  loadDefinition(id: string, version: number): Promise<WorkflowDefinition>;
  /**
   * Searches stored events for the waits that haven't been searched yet. Returns true if a wait took one. A wait whose event
   * doesn't fit into memory still counts as unsearched.
   *
   * @param hasRoom whether an event of this many bytes can be loaded into memory now
   */
  lookForEvents(session: Session, hasRoom: (bytes: number) => boolean): Promise<boolean>;
  /**
   * Withdraws the work items of steps that a commit has stopped. Returns true if a step received the result of its withdrawal.
   */
  withdrawItems(session: Session): Promise<boolean>;
  /** The announcements about the instance to others; call it just before the instance is written. */
  announce(instance: Instance): Announcement;
  sendOutbox(instance: Instance, message: OutboxMessage): Promise<void>;
  /** Retries the store call, with pauses, until it succeeds. Returns null once `isCanceled` returns true. */
  retryStore<Value>(ask: () => Promise<Value>, isCanceled: () => boolean): Promise<Value | null>;
}
