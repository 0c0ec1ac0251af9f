/**
 * Keeps trigger records in line with the newest version of their definition.
 *
 *  TG3 A record of the registration is written before the version, and removed after the triggers are written. So a crash in
 *      between leaves a record that is due soon, and the node that finds it completes the registration.
 *  TG4 The newest version is authoritative: after writing, the registry checks whether there is a newer one, and if so, starts
 *      over.
 */
import type { WorkflowDefinition } from '../../engine/model/definition.js';
import type { TriggerDefinition } from '../../engine/model/trigger.js';
import type { Clock } from '../../base/clock.js';
import type { Ids } from '../../base/ids.js';
import type { TriggerRecord } from '../../store/records/triggers.js';
import type { Store } from '../../store/store.js';
import { dueAtOf } from './due-times.js';
import {
  isRegistration,
  newState,
  readTriggerState,
  recordOf,
  registrationId,
  triggerId,
  type TriggerState,
} from './trigger-state.js';

/** More than the maximum number of a definition's triggers, with room for registrations in progress. */
export const TRIGGERS_READ_MAX = 1000;
/** After this time, an incomplete registration is considered interrupted. */
const INTERRUPTED_AFTER_MS = 5000;
const ATTEMPTS_MAX = 20;

export interface TriggerRegistryOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly findDefinition: (id: string, version: number) => Promise<WorkflowDefinition | null>;
  /** Called when a trigger may be due earlier than before. */
  readonly changed: () => void;
}

export class TriggerRegistry {
  readonly #options: TriggerRegistryOptions;

  constructor(options: TriggerRegistryOptions) {
    this.#options = options;
  }

  /** Wraps the insert of a version. */
  async register<Result>(
    { id, triggers }: Pick<WorkflowDefinition, 'id' | 'triggers'>,
    insert: () => Promise<Result>,
  ): Promise<Result> {
    const { store } = this.#options;
    const isConcerned = triggers.length > 0 || (await this.#hasRecords(id));
    const registration = isConcerned ? await this.#begin(id) : null;
    const result = await insert();
    // Another registration may have added some in the meantime.
    if (isConcerned || (await this.#hasRecords(id))) await this.reconcile(id);
    if (registration !== null) await store.removeTrigger(registration.id, registration.revision);
    this.#options.changed();
    return result;
  }

  /** Completes a registration that another node has left incomplete. */
  async complete(registration: TriggerRecord): Promise<void> {
    await this.reconcile(registration.definitionId);
    await this.#options.store.removeTrigger(registration.id, registration.revision);
  }

  async reconcile(definitionId: string): Promise<void> {
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
      const version = await this.#attempt(definitionId);
      const latest = await this.#options.store.getDefinition(definitionId, 'latest');
      if (version !== null && latest?.version === version) return;
      if (latest === null) return;
    }
    throw new Error(`The triggers of ${definitionId} are being changed too often`);
  }

  async #begin(definitionId: string): Promise<TriggerRecord> {
    const { clock, ids, store } = this.#options;
    const now = clock.now();
    const registration = {
      id: registrationId(ids.newId(now)),
      definitionId,
      dueAt: now + INTERRUPTED_AFTER_MS,
      eventHash: null,
      revision: 0,
      body: '{}',
    };
    await store.saveTrigger(registration, null);
    return registration;
  }

  async #hasRecords(definitionId: string): Promise<boolean> {
    return (await this.#options.store.listTriggers(definitionId, 1)).length > 0;
  }

  /** Returns the version that the records now follow; null after a concurrent change. */
  async #attempt(definitionId: string): Promise<number | null> {
    const { findDefinition, store } = this.#options;
    const stored = await store.getDefinition(definitionId, 'latest');
    if (stored === null) return null;
    const definition = await findDefinition(definitionId, stored.version);
    if (definition === null) return null;
    const records = await store.listTriggers(definitionId, TRIGGERS_READ_MAX);
    const wanted = new Set(definition.triggers.map(({ name }) => triggerId(definitionId, name)));
    for (const record of records) {
      if (isRegistration(record) || wanted.has(record.id)) continue;
      if (!(await store.removeTrigger(record.id, record.revision))) return null;
    }
    for (const trigger of definition.triggers) {
      const id = triggerId(definitionId, trigger.name);
      const known = records.find((record) => record.id === id) ?? null;
      const from = { since: stored.createdAt, version: stored.version };
      if (!(await this.#put(definitionId, trigger, known, from))) return null;
    }
    return stored.version;
  }

  async #put(
    definitionId: string,
    trigger: TriggerDefinition,
    known: TriggerRecord | null,
    from: Pick<TriggerState, 'since' | 'version'>,
  ): Promise<boolean> {
    const { clock, store } = this.#options;
    const state = known === null ? null : readTriggerState(known);
    if (known !== null && state?.version === from.version) return true;
    const isSame = state?.content === trigger.content;
    const next: TriggerState = isSame
      ? { ...state, version: from.version }
      : { ...newState(trigger, from), open: state?.open ?? [] };
    const { source } = trigger;
    const now = clock.now();
    const id = triggerId(definitionId, trigger.name);
    const dueAt = source.kind === 'cron' ? dueAtOf(id, source, next, now) : null;
    const revision = (known?.revision ?? 0) + 1;
    const record = recordOf(definitionId, trigger, next, { dueAt, revision });
    return store.saveTrigger(record, known?.revision ?? null);
  }
}
