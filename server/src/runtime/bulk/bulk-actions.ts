/**
 * The actions of a bulk job on one instance.
 *
 * A node may die after an action and before it has stored the job's progress; then the next node repeats the action on the same
 * instance. That must have no second effect (rule BJ1):
 *
 * - suspend, resume, terminate: the store records the job in the audit of the instance, in the step that changes the instance. An
 *   instance whose audit names the job is not touched again.
 * - terminate with compensation, retry: the same; besides, the message to the instance has an id of the action or of the job.
 * - modify: the instance keeps the key of the modification, which is made of the job. Looking into the audit first only saves
 *   planning it again.
 * - restart: the new instance has an id made of the job and the instance.
 * - priority: it is set to the same value again. As the audit names the job, a later change by somebody else stays.
 * - purge: an instance that is gone has been purged.
 */
import type { Priority } from '../../engine/model/start-options.js';
import { AppError } from '../../base/errors.js';
import { allowsName, type AllowedNames } from '../../base/allowed-names.js';
import type { Store } from '../../store/store.js';
import type { InstanceAction } from '../model/control-types.js';
import type { InstanceControl } from '../operations/instance-control.js';
import { instanceNotFound, type InstanceQueries } from '../operations/instance-queries.js';
import type { InstancePurges } from '../operations/instance-purges.js';
import type { InstanceRestarts } from '../operations/instance-restarts.js';
import type { InstanceRepairs } from '../operations/repair/instance-repairs.js';
import type { BulkAction, BulkModification } from './bulk-types.js';

export interface BulkActor {
  readonly jobId: string;
  readonly actor: string;
  readonly reason: string;
  readonly modification: BulkModification | null;
  /** Only for the action `terminate`. */
  readonly compensate: boolean;
  /** Only for the action `priority`. */
  readonly priority: Priority | null;
  readonly allowed: AllowedNames;
}

/** `skipped`: the status of the instance does not allow the action. @throws AppError if the action failed */
export type BulkAct = (id: string, by: BulkActor) => Promise<'done' | 'skipped'>;

export interface BulkActionsOptions {
  readonly store: Pick<Store, 'listAudit'>;
  readonly control: Pick<InstanceControl, 'controlFor' | 'setPriority'>;
  readonly queries: Pick<InstanceQueries, 'definitionOf'>;
  readonly purges: Pick<InstancePurges, 'purge'>;
  readonly repairs: Pick<InstanceRepairs, 'modify'>;
  readonly restarts: Pick<InstanceRestarts, 'restart'>;
}

/** Skips the instance instead of failing: its status does not allow the action. */
const REFUSALS: ReadonlySet<string> = new Set(['status_conflict', 'action_conflict']);

export class BulkActions {
  readonly #options: BulkActionsOptions;
  readonly #acts: Readonly<Record<BulkAction, BulkAct>>;

  constructor(options: BulkActionsOptions) {
    this.#options = options;
    this.#acts = {
      suspend: this.#controls('suspend'),
      resume: this.#controls('resume'),
      terminate: (id, by) => this.#controls(by.compensate ? 'compensate' : 'terminate')(id, by),
      retry: this.#controls('retry'),
      modify: async (id, by) => {
        const { jobId, modification } = by;
        if (modification === null) throw new AppError('internal', 'The modification is missing');
        const idempotency = { key: `bulk/${jobId}`, requestHash: jobId };
        const request = { ...modification, reason: detailOf(by), idempotency };
        await options.repairs.modify(id, request, by.actor);
        return 'done';
      },
      restart: async (id, by) => {
        // The id of the new instance is derived from the key.
        const idempotency = { key: `bulk/${by.jobId}/${id}`, requestHash: by.jobId };
        await options.restarts.restart(id, { reason: detailOf(by), idempotency }, by.actor);
        return 'done';
      },
      priority: async (id, by) => {
        if (by.priority === null) throw new AppError('internal', 'The priority is missing');
        const { actor } = by;
        await options.control.setPriority(id, by.priority, { actor, detail: detailOf(by) });
        return 'done';
      },
      purge: async (id, by) => {
        await options.purges.purge(id, by.actor);
        return 'done';
      },
    };
  }

  /**
   * @param mayBeRepeated the job may have acted on this instance before
   * @throws AppError if the action failed; StoreUnavailableError if it is unknown whether it happened
   */
  async act(
    action: BulkAction,
    id: string,
    by: BulkActor,
    mayBeRepeated: boolean,
  ): Promise<'done' | 'skipped'> {
    if (mayBeRepeated && (await this.#hasActed(action, id, by.jobId))) return 'done';
    if (
      by.allowed !== 'all' &&
      !allowsName(by.allowed, await this.#options.queries.definitionOf(id))
    ) {
      throw instanceNotFound(id);
    }
    try {
      return await this.#acts[action](id, by);
    } catch (error) {
      if (error instanceof AppError && REFUSALS.has(error.code)) return 'skipped';
      throw error;
    }
  }

  async #hasActed(action: BulkAction, id: string, jobId: string): Promise<boolean> {
    const audit = await this.#options.store.listAudit(id);
    if (audit === null) return action === 'purge';
    return audit.some(({ detail }) => detail?.includes(markOf(jobId)) === true);
  }

  #controls(action: InstanceAction): BulkAct {
    return async (id, by) => {
      const outcome = await this.#options.control.controlFor(id, action, {
        actor: by.actor,
        detail: detailOf(by),
        retryId: `bulk-${by.jobId}`,
      });
      if (outcome === 'missing') throw instanceNotFound(id);
      return outcome === 'done' ? 'done' : 'skipped';
    };
  }
}

/** The job's mark in an instance's audit. */
function detailOf({ jobId, reason }: BulkActor): string {
  return `${markOf(jobId)} ${reason}`;
}

function markOf(jobId: string): string {
  return `bulk job ${jobId}:`;
}
