/** Inserts instances, after admission by their definition and by the conflict rule. */
import {
  positionOf,
  type InsertInstanceResult,
  type InstanceSummary,
} from '../../store/records/instances.js';
import { AppError } from '../../base/errors.js';
import type { RuntimeMetrics } from '../fleet/runtime-metrics.js';
import type { InstanceRunner } from '../instances/instance-runner.js';
import { isLater, isWindowed, type NewInstance } from '../instance-state/new-instance.js';
import type { NodeEnvironment } from '../instances/node-environment.js';
import { findExistingStart, type Inserted } from './find-existing-start.js';
import type { StartRequest } from '../model/instance-types.js';
import type { RequestedStart, StartAdmission } from './start-admission.js';

export interface StartInsertionOptions {
  readonly admission: StartAdmission;
  readonly metrics: RuntimeMetrics;
  readonly runner: Pick<InstanceRunner, 'startInstance'>;
  readonly environment: Pick<NodeEnvironment, 'store'>;
  /** Called when another start has terminated this instance in the store. */
  readonly replaced: (record: InstanceSummary) => void;
}

export interface Insertion {
  /** The start as inserted, or as it would have been. */
  readonly start: NewInstance;
  readonly result: Inserted;
}

export interface InsertionHooks {
  /** Called before anything is written. */
  readonly check?: (start: NewInstance) => Promise<void>;
  /** Called and awaited for each instance that the start has terminated. */
  readonly replaced?: StartRequest['replaced'];
}

export class StartInsertion {
  readonly #options: StartInsertionOptions;

  constructor(options: StartInsertionOptions) {
    this.#options = options;
  }

  /** @throws AppError as `StartAdmission.admit` */
  async insert(asked: RequestedStart, hooks: InsertionHooks = {}): Promise<Insertion> {
    let start: NewInstance;
    try {
      start = await this.#options.admission.admit(asked);
    } catch (error) {
      const found = (await this.#findWindow(asked, error)) ?? (await this.#findOther(asked));
      if (found === null) throw error;
      return found;
    }
    await hooks.check?.(start);
    return this.#insert(start, hooks.replaced);
  }

  /**
   * The result of a start that the definition refuses, if the refusal doesn't matter: it joins an instance, or it repeats a
   * start that was accepted. Otherwise null.
   */
  async #findOther(asked: RequestedStart): Promise<Insertion | null> {
    const { admission, environment } = this.#options;
    const { start } = asked;
    const keyed = await admission.keyOf(asked, start.data).catch(() => null);
    const mayJoin = keyed?.conflict?.action === 'join';
    if (!mayJoin && start.requestHash === null && start.parent === null) return null;
    const conflict = mayJoin ? keyed.conflict : undefined;
    const result = await findExistingStart(environment.store, { ...start, ...keyed }, { conflict });
    return result === null ? null : { start: { ...start, tags: {} }, result };
  }

  /** The window is judged before the reference and the places: their expressions don't matter to a start that joins it. */
  async #findWindow(asked: RequestedStart, error: unknown): Promise<Insertion | null> {
    const { admission, environment } = this.#options;
    const isLaterRule = error instanceof AppError && error.code === 'expression_failed';
    if (!isWindowed(asked.start) || !isLaterRule) return null;
    const start = { ...asked.start, ...(await admission.contentOf(asked)) };
    const window = asked.start.debounce.key;
    const result = await findExistingStart(environment.store, start, { window });
    return result === null ? null : { start, result };
  }

  /**
   * Inserts the start at once if no instance is before it and a place is free; otherwise, it waits. Repeats this while others
   * start, or end, in between, and until all instances are terminated that it replaces.
   */
  async #insert(start: NewInstance, note: InsertionHooks['replaced']): Promise<Insertion> {
    let next = isLater(start) ? waitingUntilThen(start) : start;
    for (;;) {
      const result = await this.#options.runner.startInstance(next);
      await this.#noteReplaced(result, note);
      if (result.outcome === 'more') continue;
      if (result.outcome === 'free') {
        next = { ...start, startTime: next.startTime };
      } else if (result.outcome === 'in-use' && start.conflict?.action === 'queue') {
        next = behind(start, Math.max(next.startTime, positionOf(result.record).at + 1));
      } else if (result.outcome === 'no-place' && start.concurrency?.onFull !== 'Reject') {
        next = { ...next, queues: 'place' };
      } else return { start: next, result };
    }
  }

  async #noteReplaced(
    result: InsertInstanceResult,
    note: InsertionHooks['replaced'],
  ): Promise<void> {
    const { metrics, replaced } = this.#options;
    const terminated = 'terminated' in result ? (result.terminated ?? []) : [];
    for (const record of terminated) {
      metrics.instanceReplaced();
      replaced(record);
    }
    for (const { id } of terminated) await note?.(id);
  }
}

/** At its time, it looks for those before it, and asks for a place. */
function waitingUntilThen(start: NewInstance): NewInstance {
  if (start.conflict?.action === 'queue')
    return { ...start, queues: 'reference', conflict: undefined };
  return start.concurrency === undefined ? start : { ...start, queues: 'place' };
}

function behind(start: NewInstance, startTime: number): NewInstance {
  const conflict = { action: 'queue', queued: true } as const;
  return { ...start, startTime, conflict, queues: 'reference' };
}

/** Counts refused starts, and creates their errors. */
export class StartRefusals {
  readonly #metrics: Pick<RuntimeMetrics, 'startRefused'>;

  constructor(metrics: Pick<RuntimeMetrics, 'startRefused'>) {
    this.#metrics = metrics;
  }

  disabled(definitionId: string): AppError {
    this.#metrics.startRefused('disabled');
    return new AppError('definition_disabled', `The definition '${definitionId}' is disabled`, {
      fields: { definitionId },
    });
  }

  inUse(definitionId: string, { endTime, id, reference }: InstanceSummary): AppError {
    this.#metrics.startRefused('reference_in_use');
    const run = `The run ${id} of '${definitionId}' with the reference '${reference ?? ''}'`;
    const message =
      endTime === null ? `${run} has not ended` : `${run} has ended, and is still kept`;
    return new AppError('reference_in_use', message, {
      fields: { definitionId, workflowId: id },
    });
  }

  /** @param holders the ids of some of the open instances */
  concurrencyReached(
    { concurrency, definition }: NewInstance,
    holders: readonly string[],
  ): AppError {
    this.#metrics.startRefused('concurrency_reached');
    const { limit } = concurrency ?? { limit: 0 };
    const message = `${limit} of ${limit} runs of '${definition.id}'${ofKey(concurrency)} are open`;
    return new AppError('concurrency_reached', message, {
      fields: { definitionId: definition.id, workflowIds: [...holders] },
    });
  }

  queueFull({ concurrency, definition }: NewInstance): AppError {
    this.#metrics.startRefused('queue_full');
    const message = `${concurrency?.maxQueued ?? 0} runs of '${definition.id}'${ofKey(concurrency)} wait already`;
    return new AppError('queue_full', message, { fields: { definitionId: definition.id } });
  }

  /** See waiting-ancestors.ts. */
  waitsForChild({ id, reference }: InstanceSummary, consequence: string): AppError {
    this.#metrics.startRefused('reference_in_use');
    return new AppError(
      'reference_in_use',
      `The run ${id} with the reference '${reference ?? ''}' waits for this step itself, so it ${consequence}. Use another Reference, or Wait: false`,
      { fields: { workflowId: id } },
    );
  }
}

function ofKey(concurrency: NewInstance['concurrency']): string {
  const { key = '' } = concurrency ?? {};
  return key === '' ? '' : ` with the key '${key}'`;
}
