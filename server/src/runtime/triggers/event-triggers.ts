/**
 * Starts the runs of event triggers, as part of the event's delivery: the event counts as delivered only afterwards, so
 * interrupted starts are repeated, under the same id for each event and trigger.
 *
 *  TG5 An event starts runs only of definitions allowed to its publisher: a caller who may start runs of some definitions
 *      can't start others through an event. Waiting runs still get it, because events are shared.
 */
import { allowsName, type AllowedNames } from '../../base/allowed-names.js';
import type { WorkflowDefinition } from '../../engine/model/definition.js';
import { readJson } from '../../engine/values/exact-json.js';
import type { Json } from '../../engine/values/json.js';
import type { FoundEvent } from '../../store/records/events.js';
import type { PublisherPermissions, TracedEvent } from './publisher-permissions.js';
import type { TriggerRecord } from '../../store/records/triggers.js';
import type { Store } from '../../store/store.js';
import type { RuntimeMetrics } from '../fleet/runtime-metrics.js';
import { firingOf, type TriggerStarter } from './trigger-starter.js';
import {
  eventHashOf,
  readTriggerState,
  runIdOf,
  type LastFiring,
  type TriggerState,
} from '../trigger-records/trigger-state.js';
import { traceHeadersOf } from '../../tracing/trace-context.js';

const PAGE = 100;
/** Maximum number of attempts to write an event's outcome, if others write theirs at the same time. */
const NOTES_MAX = 3;

export interface EventTriggersOptions {
  readonly store: Pick<Store, 'findEventTriggers' | 'getEvent' | 'getTrigger' | 'saveTrigger'>;
  readonly metrics: Pick<RuntimeMetrics, 'triggerFired'>;
  readonly starter: Pick<TriggerStarter, 'start'>;
  readonly permissions: Pick<PublisherPermissions, 'of'>;
  readonly findDefinition: (id: string, version: number) => Promise<WorkflowDefinition | null>;
}

export class EventTriggers {
  readonly #options: EventTriggersOptions;

  constructor(options: EventTriggersOptions) {
    this.#options = options;
  }

  /** True if events with this name may start runs. */
  async has(eventName: string): Promise<boolean> {
    const found = await this.#options.store.findEventTriggers(eventHashOf(eventName), null, 1);
    return found.length > 0;
  }

  /** @throws unknown if a start has to be repeated */
  async fire(event: TracedEvent): Promise<void> {
    const hash = eventHashOf(event.name);
    const allowed = await this.#options.permissions.of(event);
    let afterId: string | null = null;
    for (;;) {
      const page = await this.#options.store.findEventTriggers(hash, afterId, PAGE);
      await Promise.all(page.map((record) => this.#fireOne(record, event, allowed)));
      const last = page.at(-1);
      if (last === undefined || page.length < PAGE) return;
      afterId = last.id;
    }
  }

  async #fireOne(record: TriggerRecord, event: TracedEvent, allowed: AllowedNames): Promise<void> {
    const { name, paused, since, version } = readTriggerState(record);
    if (paused || since > event.publishedAt) return;
    const definition = await this.#options.findDefinition(record.definitionId, version);
    const trigger = definition?.triggers.find((each) => each.name === name);
    if (definition === null || trigger?.source.kind !== 'event') return;
    const { eventKey, eventName } = trigger.source;
    if (eventName !== event.name || (eventKey !== null && eventKey !== event.key)) return;
    const { key, publishedAt: time } = event;
    if (!allowsName(allowed, record.definitionId)) {
      const reason = `The scopes of the caller who published the event ${event.id} do not reach this definition`;
      await this.#note(record.id, { time, workflowId: null, outcome: 'Skipped', reason });
      return;
    }
    const data = await this.#dataOf(event);
    const attempt = await this.#options.starter.start({
      definition,
      trigger,
      start: { name, time, event: { name: event.name, key, data } },
      workflowId: runIdOf(record, event.id),
      ...traceHeadersOf(event),
    });
    const firing = firingOf(attempt, time);
    if (firing !== null) await this.#note(record.id, firing);
  }

  /** Long data is not read with the event. */
  async #dataOf({ data, id }: FoundEvent): Promise<Json> {
    const text = data ?? (await this.#options.store.getEvent(id))?.data ?? 'null';
    return readJson(text);
  }

  /** Best effort: if others write at the same time, their outcome may stay. */
  async #note(id: string, last: LastFiring): Promise<void> {
    const { metrics, store } = this.#options;
    metrics.triggerFired(last.outcome);
    for (let count = 0; count < NOTES_MAX; count += 1) {
      const record = await store.getTrigger(id);
      if (record === null) return;
      const state: TriggerState = { ...readTriggerState(record), last };
      const revision = record.revision + 1;
      const noted = { ...record, revision, body: JSON.stringify(state) };
      if (await store.saveTrigger(noted, record.revision)) return;
    }
  }
}
