/**
 * One check of a cron trigger: decides on due times, starts their runs, and saves its progress.
 *
 *  TG1 A run is started before the trigger is saved, under an id derived from the trigger and the time. So after a crash
 *      between the two, the repeated start finds the same run, and each due time starts exactly one.
 *  TG2 A save is a compare-and-set. A node that loses it has started only runs that the winner also starts.
 */
import type { WorkflowDefinition } from '../../engine/model/definition.js';
import type { CronSource, TriggerDefinition } from '../../engine/model/trigger.js';
import type { Clock } from '../../base/clock.js';
import type { TriggerRecord } from '../../store/records/triggers.js';
import { StoreUnavailableError, type Store } from '../../store/store.js';
import type { RuntimeMetrics } from '../fleet/runtime-metrics.js';
import type { InstanceControl } from '../operations/instance-control.js';
import {
  dueAtOf,
  missedTimes,
  nextDue,
  passed,
  queued,
  type DueTime,
} from '../trigger-records/due-times.js';
import { firingOf, type TriggerStarter } from './trigger-starter.js';
import {
  readTriggerState,
  recordOf,
  runIdOf,
  type LastFiring,
  type TriggerState,
} from '../trigger-records/trigger-state.js';

/** Maximum number of starts of one trigger before others run. */
const STARTS_MAX = 50;
/** How soon a trigger checks again for the end of the run that it waits for. */
const BLOCKED_MS = 1000;
/** Maximum number of open runs remembered per trigger. */
export const OPEN_MAX = 100;

export interface CronCheckOptions {
  readonly store: Pick<Store, 'getDefinition' | 'getInstance' | 'saveTrigger'>;
  readonly clock: Clock;
  readonly metrics: Pick<RuntimeMetrics, 'triggerFired'>;
  readonly starter: Pick<TriggerStarter, 'start'>;
  readonly control: Pick<InstanceControl, 'control'>;
}

export interface CronTrigger {
  readonly definition: WorkflowDefinition;
  readonly trigger: TriggerDefinition;
  readonly source: CronSource;
  readonly record: TriggerRecord;
}

type Decision = 'decided' | 'blocked' | 'disabled';

export class CronCheck {
  readonly #options: CronCheckOptions;
  readonly #at: CronTrigger;
  #state: TriggerState;

  constructor(options: CronCheckOptions, at: CronTrigger) {
    this.#options = options;
    this.#at = at;
    this.#state = readTriggerState(at.record);
  }

  /** Returns false if the trigger has been changed concurrently. @throws unknown if a start has to be repeated */
  async run(): Promise<boolean> {
    const now = this.#options.clock.now();
    this.#passOverMissed(now);
    const before = this.#state;
    let isBlocked: boolean;
    try {
      isBlocked = await this.#startDue(now);
    } catch (error) {
      const hasProgress = this.#state !== before && !(error instanceof StoreUnavailableError);
      // A server with memory for only a few runs starts a few each time, never the same ones again.
      if (hasProgress) await this.#save(true, now);
      throw error;
    }
    return this.#save(isBlocked, now);
  }

  /** Returns true if the next due time must wait. */
  async #startDue(now: number): Promise<boolean> {
    const { record, source } = this.#at;
    for (let count = 0; count < STARTS_MAX; count += 1) {
      const due = nextDue(record.id, source, this.#state, now);
      if (due === null) return false;
      const decision = await this.#decide(due);
      if (decision === 'blocked') return true;
      if (decision === 'disabled') this.#state = { ...this.#state, cursor: now, backlog: [] };
    }
    return false;
  }

  #passOverMissed(now: number): void {
    const { record, source } = this.#at;
    const missed = missedTimes(record.id, source, this.#state, now);
    if (missed === null) return;
    this.#state = { ...this.#state, cursor: missed.cursor };
    const reason = `The server could not start it within the catch-up time; ${missed.count} missed`;
    this.#note({ time: missed.newest, workflowId: null, outcome: 'Missed', reason });
  }

  async #decide(due: DueTime): Promise<Decision> {
    const { source } = this.#at;
    if (source.overlap === 'Allow') return this.#start(due);
    await this.#forgetEnded();
    const { open } = this.#state;
    if (open.length === 0) return this.#start(due);
    if (await this.#isDisabled()) return 'disabled';
    // A node that has died may have started it.
    const runId = runIdOf(this.#at.record, due.time);
    if ((await this.#options.store.getInstance(runId)) !== null) return this.#start(due);
    if (source.overlap === 'Queue') {
      if (!due.isBacklog) this.#state = queued(this.#state, due.time);
      return 'blocked';
    }
    if (source.overlap === 'Skip') {
      this.#state = passed(this.#state, due);
      const reason = `The run ${open[0] ?? ''} was still open`;
      this.#note({ time: due.time, workflowId: null, outcome: 'Skipped', reason });
      return 'decided';
    }
    for (const id of open) {
      await this.#options.control.control(id, 'terminate', `trigger ${this.#state.name}`);
    }
    return this.#start(due);
  }

  async #start(due: DueTime): Promise<Decision> {
    const { definition, record, source, trigger } = this.#at;
    const { time } = due;
    const attempt = await this.#options.starter.start({
      definition,
      trigger,
      start: { name: trigger.name, time, event: null },
      workflowId: runIdOf(record, time),
    });
    const firing = firingOf(attempt, time);
    if (firing === null) return 'disabled';
    this.#state = passed(this.#state, due);
    if (attempt.outcome === 'started' && source.overlap !== 'Allow') {
      const open = [...this.#state.open, attempt.instance.id].slice(-OPEN_MAX);
      this.#state = { ...this.#state, open };
    }
    this.#note(firing);
    return 'decided';
  }

  async #forgetEnded(): Promise<void> {
    const open: string[] = [];
    for (const id of this.#state.open) {
      const found = await this.#options.store.getInstance(id);
      if (found !== null && found.endTime === null) open.push(id);
    }
    this.#state = { ...this.#state, open };
  }

  async #isDisabled(): Promise<boolean> {
    const found = await this.#options.store.getDefinition(this.#at.definition.id, 'latest');
    return found?.disabled === true;
  }

  #note(last: LastFiring): void {
    this.#state = { ...this.#state, last };
    this.#options.metrics.triggerFired(last.outcome);
  }

  #save(isBlocked: boolean, now: number): Promise<boolean> {
    const { definition, record, source, trigger } = this.#at;
    const dueAt = isBlocked ? now + BLOCKED_MS : dueAtOf(record.id, source, this.#state, now);
    const revision = record.revision + 1;
    const changed = recordOf(definition.id, trigger, this.#state, { dueAt, revision });
    return this.#options.store.saveTrigger(changed, record.revision);
  }
}
