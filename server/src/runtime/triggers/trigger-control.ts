/** Client operations on triggers: list, pause, resume, fire, backfill. */
import type { WorkflowDefinition } from '../../engine/model/definition.js';
import type { TriggerDefinition } from '../../engine/model/trigger.js';
import type { Clock } from '../../base/clock.js';
import { AppError } from '../../base/errors.js';
import { isoTime } from '../../base/iso-time.js';
import { KeyedMutex } from '../../base/limits/keyed-mutex.js';
import type { Ids } from '../../base/ids.js';
import { nextTimesOf, scheduleOf } from '../../schedules/trigger-times.js';
import type { TriggerRecord } from '../../store/records/triggers.js';
import type { Store } from '../../store/store.js';
import type { DefinitionCatalog } from '../definitions/definition-catalog.js';
import type { RuntimeMetrics } from '../fleet/runtime-metrics.js';
import type { StartedInstance } from '../model/instance-types.js';
import { OPEN_MAX } from './cron-check.js';
import { dueAtOf } from '../trigger-records/due-times.js';
import { TRIGGERS_READ_MAX } from '../trigger-records/trigger-registry.js';
import { firingOf, type TriggerStarter } from './trigger-starter.js';
import {
  readTriggerState,
  recordOf,
  triggerId,
  type TriggerState,
} from '../trigger-records/trigger-state.js';
import { readSchedule } from './trigger-schedule.js';
import type {
  BackfillRequest,
  Schedule,
  ScheduleRequest,
  TriggerListItem,
} from './trigger-types.js';

const BACKFILL_MAX = 1000;
/** Waiting periods of one trigger. */
const BACKLOG_MAX = 100;
const ATTEMPTS_MAX = 20;

export interface TriggerControlOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly metrics: Pick<RuntimeMetrics, 'triggerFired'>;
  readonly catalog: Pick<DefinitionCatalog, 'find' | 'forget' | 'latest'>;
  readonly starter: Pick<TriggerStarter, 'start'>;
  /** Called when a trigger may be due earlier than before. */
  readonly changed: (definitionId: string) => void;
}

interface Found {
  readonly definition: WorkflowDefinition;
  readonly trigger: TriggerDefinition;
  readonly record: TriggerRecord;
  readonly state: TriggerState;
}

export class TriggerControl {
  readonly #options: TriggerControlOptions;
  readonly #mutex = new KeyedMutex();

  constructor(options: TriggerControlOptions) {
    this.#options = options;
  }

  /** @throws AppError `definition_not_found` */
  async list(definitionId: string): Promise<readonly TriggerListItem[]> {
    const { catalog, clock, store } = this.#options;
    catalog.forget(definitionId);
    const { triggers } = await catalog.latest(definitionId);
    if (triggers.length === 0) return [];
    const records = await store.listTriggers(definitionId, TRIGGERS_READ_MAX);
    const now = clock.now();
    return triggers.map((trigger) => {
      const id = triggerId(definitionId, trigger.name);
      const record = records.find((each) => each.id === id);
      return itemOf(trigger, record === undefined ? null : readTriggerState(record), now);
    });
  }

  /** The triggers, over all definitions, that fire soon. */
  schedule(request: ScheduleRequest): Promise<Schedule> {
    return readSchedule(this.#options, request);
  }

  /** Due times and events are ignored until it is resumed. @throws AppError `trigger_not_found` */
  async pause(definitionId: string, name: string): Promise<TriggerListItem> {
    return this.#change(definitionId, name, ({ state }) => ({ ...state, paused: true }));
  }

  /** @throws AppError `trigger_not_found` */
  async resume(definitionId: string, name: string): Promise<TriggerListItem> {
    const now = this.#options.clock.now();
    return this.#change(definitionId, name, ({ state }) => {
      const cursor = state.paused ? Math.max(state.cursor, now) : state.cursor;
      return { ...state, paused: false, cursor };
    });
  }

  /**
   * Starts a run now, even if other runs of the trigger are open.
   * @throws AppError `trigger_not_found`, `definition_disabled`, `invalid_data`, `reference_in_use`, and other errors of a
   *   start
   */
  async fire(definitionId: string, name: string): Promise<StartedInstance> {
    const { clock, ids, metrics, starter } = this.#options;
    const { definition, trigger } = await this.#find(definitionId, name);
    const { source } = trigger;
    const time = clock.now();
    const event =
      source.kind === 'event'
        ? { name: source.eventName, key: source.eventKey ?? '', data: null }
        : null;
    const workflowId = ids.newId(time);
    const start = { name, time, event };
    const attempt = await starter.start({
      definition,
      trigger,
      start,
      workflowId,
      isByHand: true,
    });
    if (attempt.outcome === 'failed') throw attempt.error;
    if (attempt.outcome === 'disabled') {
      throw new AppError('definition_disabled', `The definition '${definitionId}' is disabled`, {
        fields: { definitionId },
      });
    }
    const last = firingOf(attempt, time);
    const isOpen = attempt.outcome === 'started' && source.kind === 'cron';
    if (last !== null) metrics.triggerFired(last.outcome);
    await this.#change(definitionId, name, ({ state }) => ({
      ...state,
      ...(isOpen && { open: [...state.open, workflowId].slice(-OPEN_MAX) }),
      last,
    }));
    if (attempt.outcome === 'refused') throw attempt.error;
    return { instance: attempt.instance, isNew: attempt.outcome === 'started' };
  }

  /**
   * Starts runs for past due times, according to Overlap. Future due times are skipped: the trigger starts their runs when they
   * are due.
   * @throws AppError `trigger_not_found`, `invalid_request`, `too_many_requests`
   */
  async backfill(
    definitionId: string,
    name: string,
    { from, to }: BackfillRequest,
  ): Promise<readonly number[]> {
    const { trigger } = await this.#find(definitionId, name);
    const { source } = trigger;
    if (source.kind === 'event') {
      const message = `The trigger '${name}' fires on events; only cron triggers have times to make up for`;
      throw new AppError('invalid_request', message);
    }
    const now = this.#options.clock.now();
    if (from > now) {
      const message = `'from' is in the future: ${isoTime(from)}. A backfill starts the runs of times that have passed`;
      throw new AppError('invalid_request', message, { parameter: 'from' });
    }
    const times: number[] = [];
    const schedule = scheduleOf(source);
    const end = Math.min(to, now + 1);
    let time = schedule.nextAfter(from - 1);
    while (time !== null && time < end) {
      if (times.length === BACKFILL_MAX) {
        const message = `There are more than ${BACKFILL_MAX} times from 'from' to 'to'; choose a shorter period`;
        throw new AppError('invalid_request', message, { parameter: 'to' });
      }
      times.push(time);
      time = schedule.nextAfter(time);
    }
    const last = times.at(-1);
    if (last === undefined) return [];
    const range = { from: from - 1, to: last };
    await this.#change(definitionId, name, ({ state }) => {
      if (state.backlog.length >= BACKLOG_MAX) throw tooManyBackfills(name);
      return { ...state, backlog: [...state.backlog, range] };
    });
    return times;
  }

  #change(
    definitionId: string,
    name: string,
    change: (found: Found) => TriggerState,
  ): Promise<TriggerListItem> {
    return this.#mutex.run(triggerId(definitionId, name), () =>
      this.#changeAlone(definitionId, name, change),
    );
  }

  /** Other nodes, and the firing of the trigger, may change it at the same time. */
  async #changeAlone(
    definitionId: string,
    name: string,
    change: (found: Found) => TriggerState,
  ): Promise<TriggerListItem> {
    const { changed, clock, store } = this.#options;
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
      const found = await this.#find(definitionId, name);
      const { record, trigger } = found;
      const { source } = trigger;
      const state = change(found);
      const now = clock.now();
      const dueAt = source.kind === 'cron' ? dueAtOf(record.id, source, state, now) : null;
      const revision = record.revision + 1;
      const next = recordOf(definitionId, trigger, state, { dueAt, revision });
      if (await store.saveTrigger(next, record.revision)) {
        changed(definitionId);
        return itemOf(trigger, state, now);
      }
    }
    throw new AppError('overloaded', `The trigger '${name}' is being changed too often`, {
      retryAfterSeconds: 1,
    });
  }

  async #find(definitionId: string, name: string): Promise<Found> {
    const { catalog, store } = this.#options;
    const record = await store.getTrigger(triggerId(definitionId, name));
    const state = record === null ? null : readTriggerState(record);
    const definition = state === null ? null : await catalog.find(definitionId, state.version);
    const trigger = definition?.triggers.find((each) => each.name === name);
    if (record !== null && state !== null && definition !== null && trigger !== undefined) {
      return { definition, trigger, record, state };
    }
    await catalog.latest(definitionId);
    throw new AppError(
      'trigger_not_found',
      `The definition '${definitionId}' has no trigger '${name}'`,
      { fields: { definitionId } },
    );
  }
}

function tooManyBackfills(name: string): AppError {
  const message = `${BACKLOG_MAX} backfills of the trigger '${name}' are already waiting`;
  return new AppError('too_many_requests', message, { retryAfterSeconds: 60 });
}

function itemOf(
  { name, source }: TriggerDefinition,
  state: TriggerState | null,
  now: number,
): TriggerListItem {
  const isCron = source.kind === 'cron';
  return {
    name,
    kind: source.kind,
    cron: isCron ? source.cron : null,
    timeZone: isCron ? source.timeZone : null,
    eventName: isCron ? null : source.eventName,
    eventKey: isCron ? null : source.eventKey,
    paused: state?.paused ?? false,
    nextTimes: nextTimesOf(source, now),
    last: state?.last ?? null,
  };
}
