/** The loads of a node: one at a time for each instance, all together within the limits of the gate. */
import type { InstanceRecord } from '../store/store.js';
import type { ActorEnvironment } from './actor-environment.js';
import { LoadGate, type LoadLimits, type LoadPermit } from './load-gate.js';

/** Answers an instance that is to be set to work; null: there is nothing to do. */
export type Load = () => Promise<InstanceRecord | null>;

export interface InstanceLoadsOptions {
  readonly environment: Pick<ActorEnvironment, 'logger' | 'retryStore'>;
  readonly limits: LoadLimits;
  readonly isStopping: () => boolean;
  readonly activate: (record: InstanceRecord) => Promise<void>;
  /** It is in memory and at work. */
  readonly isWorking: (instanceId: string) => boolean;
  /** False: the node stopped before that could be done. */
  readonly loaded: (instanceId: string, isDone: boolean) => void;
}

export class InstanceLoads {
  readonly #options: InstanceLoadsOptions;
  readonly #gate: LoadGate;
  readonly #underWay = new Map<string, Promise<unknown>>();
  /** Of instances that are in memory and have not come to rest since. */
  readonly #permits = new Map<string, LoadPermit>();

  constructor(options: InstanceLoadsOptions) {
    this.#options = options;
    this.#gate = new LoadGate(options.limits);
  }

  /** Resolves when the load was admitted: then the next one may come. */
  async bring(id: string, load: Load): Promise<void> {
    const { environment, isStopping } = this.#options;
    if (isStopping() || this.#underWay.has(id)) return;
    const admitted = this.#gate.enter();
    const loading = admitted
      .then((permit) => this.#loadWith(permit, id, load))
      .catch((error: unknown) => {
        environment.logger.warn({ workflowId: id, err: error }, 'could not load an instance');
      })
      .finally(() => this.#underWay.delete(id));
    this.#underWay.set(id, loading);
    await admitted;
  }

  /** Its first work after the load is done, or it is gone from memory. */
  rested(id: string): void {
    this.#permits.get(id)?.end();
    this.#permits.delete(id);
  }

  async ended(): Promise<void> {
    await Promise.all([...this.#underWay.values()]);
  }

  async #loadWith(permit: LoadPermit, id: string, load: Load): Promise<void> {
    const { activate, environment, isStopping, isWorking, loaded } = this.#options;
    const attempt = async (): Promise<true> => {
      const record = await load();
      if (record === null) return true;
      permit.loaded(record.state.length);
      await activate(record);
      return true;
    };
    try {
      loaded(id, (await environment.retryStore(attempt, isStopping)) !== null);
    } finally {
      if (isWorking(id) && !this.#permits.has(id)) this.#permits.set(id, permit);
      else permit.end();
    }
  }
}
