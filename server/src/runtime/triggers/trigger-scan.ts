/**
 * Checks due triggers, and sleeps until the next one is due, with one timer for all. Only one node does this; if two nodes do,
 * they start the same runs (TG1).
 */
import type { WorkflowDefinition } from '../../engine/model/definition.js';
import type { Clock } from '../../base/clock.js';
import { AppError } from '../../base/errors.js';
import type { Logger } from '../../base/logger.js';
import type { Service } from '../../base/service.js';
import type { TriggerRecord } from '../../store/records/triggers.js';
import { FAR_FUTURE_MS, StoreUnavailableError, type Store } from '../../store/store.js';
import { CronCheck, type CronCheckOptions } from './cron-check.js';
import type { TriggerRegistry } from '../trigger-records/trigger-registry.js';
import { isRegistration, readTriggerState } from '../trigger-records/trigger-state.js';

const PAGE = 500;
const AT_ONCE = 100;
/** Pause before a trigger is retried whose check failed. */
const FAILED_PAUSE_MS = 10_000;
const OUTAGE_PAUSE_MS = 1000;

export interface TriggerScanOptions extends CronCheckOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly registry: Pick<TriggerRegistry, 'complete' | 'reconcile'>;
  readonly findDefinition: (id: string, version: number) => Promise<WorkflowDefinition | null>;
  /** True if this node is the one that checks triggers. */
  readonly isChosen: () => boolean;
  /** How long this node may sleep; null: until the next trigger is due, because it learns of all changes. */
  readonly sleepMsMax: () => number | null;
}

export class TriggerScan implements Service {
  readonly #options: TriggerScanOptions;
  #cancel: () => void = () => undefined;
  #running: Promise<void> | null = null;
  #isWanted = false;
  #isStopped = false;
  /** True while it sleeps as if no other node could change triggers. */
  #sleepsAlone = false;

  constructor(options: TriggerScanOptions) {
    this.#options = options;
  }

  start(): Promise<void> {
    this.soon();
    return Promise.resolve();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancel();
    await this.#running;
  }

  /** Called when the nodes were read: another one may have joined since the scan began to sleep. */
  nodesRead(): void {
    if (this.#sleepsAlone && this.#options.sleepMsMax() !== null) this.soon();
  }

  /** Called when a trigger may be due earlier than before. */
  soon(): void {
    if (this.#isStopped) return;
    this.#isWanted = true;
    if (this.#running !== null) return;
    this.#cancel();
    this.#running = this.#rounds().finally(() => {
      this.#running = null;
      if (this.#isWanted) this.soon();
    });
  }

  async #rounds(): Promise<void> {
    const { clock, isChosen, logger, sleepMsMax } = this.#options;
    let wakeAt: number | null = null;
    try {
      while (this.#isWanted && !this.#isStopped) {
        this.#isWanted = false;
        wakeAt = isChosen() ? await this.#round() : null;
      }
    } catch (error) {
      logger.warn({ err: error }, 'could not look for due triggers; they are looked for again');
      wakeAt = clock.now() + OUTAGE_PAUSE_MS;
    }
    if (this.#isStopped || this.#isWanted) return;
    const pauseMs = sleepMsMax();
    this.#sleepsAlone = pauseMs === null;
    const latest = pauseMs === null ? Infinity : clock.now() + pauseMs;
    const at = Math.min(wakeAt ?? Infinity, latest);
    if (at < Infinity) this.#cancel = clock.at(at, () => this.soon(), at === latest);
  }

  /** Returns the time at which the next trigger is due; null if there is none. */
  async #round(): Promise<number | null> {
    const { clock, store } = this.#options;
    for (;;) {
      const [next] = await store.findDueTriggers(FAR_FUTURE_MS, 1);
      if (next === undefined) return null;
      if ((next.dueAt ?? 0) > clock.now() || this.#isStopped) return next.dueAt;
      const due = await store.findDueTriggers(clock.now(), PAGE);
      const waiting = due[Symbol.iterator]();
      const work = async (): Promise<void> => {
        for (const record of waiting) {
          if (this.#isStopped) return;
          await this.#look(record);
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, work));
    }
  }

  async #look(record: TriggerRecord): Promise<void> {
    const { clock, logger, store } = this.#options;
    try {
      if (isRegistration(record)) await this.#options.registry.complete(record);
      else await this.#turn(record);
    } catch (error) {
      if (error instanceof StoreUnavailableError) throw error;
      const { definitionId } = record;
      logger.warn({ definitionId, err: error }, 'could not fire a trigger; it is tried again');
      const now = clock.now();
      const later = { dueAt: now + FAILED_PAUSE_MS, revision: record.revision + 1 };
      const shown = error instanceof AppError ? record : withFailure(record, now);
      await store.saveTrigger({ ...shown, ...later }, record.revision);
    }
  }

  async #turn(record: TriggerRecord): Promise<void> {
    const { name, version } = readTriggerState(record);
    const definition = await this.#options.findDefinition(record.definitionId, version);
    const trigger = definition?.triggers.find((each) => each.name === name);
    if (definition === null || trigger?.source.kind !== 'cron') {
      throw new Error(`Version ${version} of ${record.definitionId} has no cron trigger ${name}`);
    }
    const { source } = trigger;
    await new CronCheck(this.#options, { definition, trigger, source, record }).run();
  }
}

/** Shows users that the trigger doesn't fire, and where to find the reason. Overload is reported elsewhere. */
function withFailure(record: TriggerRecord, time: number): TriggerRecord {
  if (isRegistration(record)) return record;
  const reason = 'the server could not fire this trigger; see the server log for the reason';
  const last = { time, workflowId: null, outcome: 'Failed', reason } as const;
  return { ...record, body: JSON.stringify({ ...readTriggerState(record), last }) };
}
