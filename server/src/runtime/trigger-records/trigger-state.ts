/** The state of a trigger, stored as text in its record. */
import type { TriggerDefinition } from '../../engine/model/trigger.js';
import { hashOf } from '../../base/ids.js';
import type { TriggerRecord } from '../../store/records/triggers.js';

export type TriggerOutcome = 'Started' | 'Skipped' | 'Failed' | 'Missed';

/** The outcome of the last due time or event. */
export interface LastFiring {
  readonly time: number;
  readonly workflowId: string | null;
  readonly outcome: TriggerOutcome;
  readonly reason: string | null;
}

/** The due times after `from`, up to and including `to`. */
export interface DueRange {
  readonly from: number;
  readonly to: number;
}

export interface TriggerState {
  readonly name: string;
  /** The newest version of the definition. */
  readonly version: number;
  readonly content: string;
  /** The time since which it is in effect. */
  readonly since: number;
  readonly paused: boolean;
  /** Cron triggers only: later due times are undecided. */
  readonly cursor: number;
  /** Cron triggers only: queued and backfilled due times, which are started before others, oldest first. */
  readonly backlog: readonly DueRange[];
  /** Runs that may be open, oldest first. */
  readonly open: readonly string[];
  readonly last: LastFiring | null;
}

/** A registration in progress: the node that finds it when it is due completes the registration. */
const REGISTRATION = 'r-';

export function isRegistration({ id }: TriggerRecord): boolean {
  return id.startsWith(REGISTRATION);
}

export function registrationId(id: string): string {
  return REGISTRATION + id;
}

export function triggerId(definitionId: string, name: string): string {
  return `t-${hashOf(definitionId, name)}`;
}

/** Events are indexed by the hash of their name, because names may be long. */
export function eventHashOf(eventName: string): string {
  return hashOf('event', eventName);
}

/** The id of the run that a trigger starts at a time or for an event: the same for each repetition of the start. */
export function runIdOf(record: TriggerRecord, cause: number | string): string {
  return `t-${hashOf(record.id, typeof cause === 'number' ? String(cause) : `event ${cause}`)}`;
}

export function readTriggerState({ body }: TriggerRecord): TriggerState {
  // Written by `recordOf`.
  return JSON.parse(body) as TriggerState;
}

export function newState(
  { content, name }: TriggerDefinition,
  { since, version }: Pick<TriggerState, 'since' | 'version'>,
): TriggerState {
  return {
    name,
    version,
    content,
    since,
    paused: false,
    cursor: since,
    backlog: [],
    open: [],
    last: null,
  };
}

export function recordOf(
  definitionId: string,
  { name, source }: TriggerDefinition,
  state: TriggerState,
  { dueAt, revision }: Pick<TriggerRecord, 'dueAt' | 'revision'>,
): TriggerRecord {
  return {
    id: triggerId(definitionId, name),
    definitionId,
    dueAt,
    eventHash: source.kind === 'event' ? eventHashOf(source.eventName) : null,
    revision,
    body: JSON.stringify(state),
  };
}
