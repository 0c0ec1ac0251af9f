/** Triggers of a definition: they start runs at times (cron) or on events. */
import type { DebounceData } from './debounce.js';
import type { InputValue } from './input-value.js';
import type { Json } from '../values/json.js';

/** The handling of a due time while a run of the same trigger is open. */
export const OVERLAPS = ['Skip', 'Allow', 'Queue', 'Terminate'] as const;
export type Overlap = (typeof OVERLAPS)[number];

export interface CronSource {
  readonly kind: 'cron';
  readonly cron: string;
  readonly timeZone: string;
  readonly overlap: Overlap;
  /** Missed due times up to this old are caught up. */
  readonly catchUpMs: number;
  /** Maximum random delay of each start. */
  readonly jitterMs: number;
}

export interface EventSource {
  readonly kind: 'event';
  readonly eventName: string;
  /** Null: any key. */
  readonly eventKey: string | null;
  /** Null: every event starts a run. */
  readonly debounce: TriggerDebounce | null;
}

/** Events whose starts join one run. */
export interface TriggerDebounce {
  readonly periodMs: number;
  /** Null: all events of the trigger belong together. */
  readonly key: InputValue | null;
  /** Null: the default. */
  readonly maxMs: number | null;
  readonly data: DebounceData;
}

export interface TriggerDefinition {
  /** Unique in the definition. */
  readonly name: string;
  readonly source: CronSource | EventSource;
  readonly data: InputValue | null;
  readonly reference: InputValue | null;
  /** Equal in two versions if the trigger has not changed between them. */
  readonly content: string;
}

/** The trigger that started a run; the value of `context.Trigger`. */
export interface TriggerStart {
  readonly name: string;
  /** The planned time, or the time of the event. */
  readonly time: number;
  readonly event: { readonly name: string; readonly key: string; readonly data: Json } | null;
}
