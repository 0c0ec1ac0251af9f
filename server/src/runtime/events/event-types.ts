/** What clients ask of events and see of them. Times are milliseconds since 1970. */
import type { Json } from '../../engine/values/json.js';
import type { IdempotencyKey } from '../operations/idempotency-key.js';

export interface PublishRequest {
  readonly name: string;
  readonly key: string;
  readonly data: Json;
  readonly idempotency: IdempotencyKey | null;
  /** For the sake of which instance, and by whom: noted there. */
  readonly forWorkflow?: { readonly workflowId: string; readonly actor: string };
}

export interface PublishedEvent {
  readonly id: string;
  /** How many waiting instances it was handed to at once. Later waits can still take it. */
  readonly deliveredTo: number;
}

export interface EventView {
  readonly id: string;
  readonly name: string;
  readonly key: string;
  /** Null with `dataOmitted`, when it is too long for a list. */
  readonly data: Json;
  readonly dataOmitted: boolean;
  readonly publishTime: number;
  /** To how many waiting instances it was handed at once; null: not yet to all. */
  readonly deliveredTo: number | null;
  /** The first instances that it was handed to when it was published; who takes it later is not noted. */
  readonly takenBy: readonly string[];
}

/** An event with all of its data. */
export type StoredEventView = Omit<EventView, 'dataOmitted' | 'takenBy'>;

export interface EventWaiterView {
  readonly workflowId: string;
  readonly executionId: number;
  /** Events published from this time on are wanted. */
  readonly since: number;
}

export interface EventName {
  readonly name: string;
  readonly key: string;
}
