/** Suspends instances that can't run, with a reason that users see, and remembers them. */
import type { WorkflowDefinition } from '../../engine/model/definition.js';
import { AppError } from '../../base/errors.js';
import type { Logger, LogFields } from '../../base/logger.js';
import type { InstanceRecord, InstanceSummary } from '../../store/records/instances.js';
import { StoreRefusedError, type Store } from '../../store/store.js';
import type { Clock } from '../../base/clock.js';
import type { ActorEnvironment } from './actor-environment.js';
import { InstanceTooLargeError } from '../passes/instance-bounds.js';
import { quarantinedState } from './quarantined-state.js';

export interface QuarantineOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly changed: (record: InstanceSummary) => void;
  /** Announces the suspension to others. */
  readonly announce: ActorEnvironment['announce'];
  readonly sendOutbox: ActorEnvironment['sendOutbox'];
}

export interface QuarantineReason {
  readonly type: string;
  readonly message: string;
  /** For the log. */
  readonly evidence?: LogFields;
}

export class Quarantine {
  readonly #options: QuarantineOptions;
  readonly #ids = new Set<string>();

  constructor(options: QuarantineOptions) {
    this.#options = options;
  }

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  /** Called when the instance was changed: it may be tried again. */
  forget(id: string): void {
    this.#ids.delete(id);
  }

  /** Leaves the instance unchanged. */
  leave(id: string): void {
    this.#ids.add(id);
  }

  /**
   * Returns null if the definition is unavailable, and the instance was quarantined. @throws if the store does not respond
   */
  async definitionOf(
    record: InstanceRecord,
    find: (id: string, version: number) => Promise<WorkflowDefinition | null>,
  ): Promise<WorkflowDefinition | null> {
    try {
      const definition = await find(record.definitionId, record.version);
      if (definition !== null) return definition;
      const message = 'the definition of this run no longer exists';
      await this.suspend(record, { type: 'DefinitionMissing', message });
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'internal') throw error;
      const message = 'the stored definition of this run cannot be read';
      await this.suspend(record, {
        type: 'UnreadableDefinition',
        message,
        evidence: { err: error },
      });
    }
    return null;
  }

  /** Suspends an instance that failed to run. An instance that another node has since taken over is left unchanged. */
  async suspendFailed(
    { epoch, id }: Pick<InstanceRecord, 'epoch' | 'id'>,
    error: unknown,
  ): Promise<void> {
    const { logger, store } = this.#options;
    const isTooLarge = error instanceof InstanceTooLargeError;
    if (!isTooLarge)
      logger.error({ workflowId: id, err: error }, 'quarantined an instance that cannot run');
    const record = await store.getInstance(id);
    if (record?.epoch !== epoch) return;
    await this.suspend(record, reasonOf(error));
  }

  async suspend(
    record: InstanceRecord,
    { evidence, message, type }: QuarantineReason,
  ): Promise<void> {
    const { announce, changed, clock, logger, sendOutbox, store } = this.#options;
    const fields = { workflowId: record.id, reason: type, ...evidence };
    logger.error(fields, `quarantined an instance: ${message}`);
    this.#ids.add(record.id);
    if (record.status !== 'Runnable') return this.#suspendOnly(record);
    const reason = { type, message, time: clock.now() };
    const { commit, instance, messages, written } = await quarantinedState(
      record,
      reason,
      announce,
    );
    try {
      if ((await store.commitInstance(commit)) !== 'committed') return;
    } catch (error) {
      if (!(error instanceof StoreRefusedError)) throw error;
      // The reason doesn't fit into the state; it is in the log.
      return this.#suspendOnly(record);
    }
    written();
    const { errorAt, failingSince, failure, lastChangeAt, status } = commit;
    changed({ ...record, status, errorAt, failingSince, failure, lastChangeAt });
    if (instance === null) return;
    for (const notice of messages) await sendOutbox(instance, notice);
  }

  async #suspendOnly({ id }: InstanceRecord): Promise<void> {
    const { changed, clock, store } = this.#options;
    const result = await store.controlInstance(id, 'suspend', clock.now());
    if (result.outcome === 'done') changed(result.record);
  }
}

function reasonOf(error: unknown): QuarantineReason {
  if (error instanceof InstanceTooLargeError) {
    return { type: 'InstanceTooLarge', message: error.message };
  }
  if (error instanceof StoreRefusedError) return { type: 'StoreRefused', message: error.message };
  return {
    type: 'EngineError',
    message: 'the server could not run this instance; see the server log for the reason',
  };
}
