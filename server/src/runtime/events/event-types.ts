/** The calls of clients on events, and their results. Times are milliseconds since 1970. */
import type { AllowedNames } from '../../base/allowed-names.js';
import type { Json } from '../../engine/values/json.js';
import type { IdempotencyKey } from '../model/idempotency-key.js';
import type { TraceHeaders } from '../../tracing/trace-context.js';

/** Includes the request's span. */
export interface PublishRequest extends TraceHeaders {
  readonly name: string;
  readonly key: string;
  readonly data: Json;
  readonly idempotency: IdempotencyKey | null;
  /** The instance for which the event is published, and the actor: the instance records both. */
  readonly forInstance?: { readonly instanceId: string; readonly actor: string };
  /** Only triggers of these definitions start runs. Default: all. */
  readonly allowed?: AllowedNames;
}

export interface PublishedEvent {
  readonly id: string;
  /** Number of waiting instances that it was delivered to immediately. Later waits can still take it. */
  readonly deliveredTo: number;
}

export interface EventView {
  readonly id: string;
  readonly name: string;
  readonly key: string;
  /** Null with `dataOmitted` if it is too long for a list. */
  readonly data: Json;
  readonly dataOmitted: boolean;
  readonly publishTime: number;
  /** Number of waiting instances that it was delivered to immediately; null while delivery is incomplete. */
  readonly deliveredTo: number | null;
  /** The first instances that it was delivered to on publication; later ones are not recorded. */
  readonly takenBy: readonly string[];
}

/** An event with all of its data. */
export type StoredEventView = Omit<EventView, 'dataOmitted' | 'takenBy'>;

export interface EventWaiterView {
  readonly workflowId: string;
  readonly executionId: number;
  /** Events published before this time are ignored. */
  readonly since: number;
}

export interface EventName {
  readonly name: string;
  readonly key: string;
}
