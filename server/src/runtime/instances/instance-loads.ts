/**
 * The loads of a node: one at a time for each instance, all together within the limits of the gate. An instance for which
 * there is no memory waits in line, and is read again when its turn comes: nothing of it is in memory until then.
 */
import type { InstanceRecord } from '../../store/records/instances.js';
import type { RunnerEnvironment } from './runner-environment.js';
import type { Comer, InstanceMemory } from '../memory/instance-memory.js';
import { LoadGate, type LoadLimits, type LoadPermit } from '../memory/load-gate.js';
import { BackgroundLoads } from './background-loads.js';
import { recordCost } from './message-codec.js';

/** Answers an instance that is to be set to work; null: there is nothing to do. */
export type Load = () => Promise<InstanceRecord | null>;

/** In the background comes what is overdue or was left by a dead node: nobody waits for an answer. */
export type LoadLane = 'foreground' | 'background';

export interface InstanceLoadsOptions {
  readonly environment: Pick<RunnerEnvironment, 'clock' | 'logger' | 'retryStore'>;
  readonly limits: LoadLimits;
  readonly memory: Pick<InstanceMemory, 'tryEnter' | 'enter' | 'notComing'>;
  /** Reads an instance once more that had to wait for memory. */
  readonly reload: (instanceId: string) => Promise<InstanceRecord | null>;
  readonly isStopping: () => boolean;
  readonly activate: (record: InstanceRecord) => Promise<void>;
  readonly isHere: (instanceId: string) => boolean;
  /** It is in memory and at work. */
  readonly isWorking: (instanceId: string) => boolean;
  /** False: the node stopped before that could be done. */
  readonly loaded: (instanceId: string, isDone: boolean) => void;
}

export class InstanceLoads {
  readonly #options: InstanceLoadsOptions;
  readonly #gate: LoadGate;
  readonly #background: BackgroundLoads;
  readonly #underWay = new Map<string, Promise<unknown>>();
  /** Of instances that are in memory and have not come to rest since. */
  readonly #permits = new Map<string, LoadPermit>();

  constructor(options: InstanceLoadsOptions) {
    this.#options = options;
    this.#gate = new LoadGate(options.limits);
    this.#background = new BackgroundLoads(options.environment.clock);
  }

  /** A client was served: loads in the background take less for a while. */
  served(): void {
    this.#background.served();
  }

  /** Resolves when the load was admitted: then the next one may come. */
  async bring(id: string, load: Load, lane: LoadLane = 'foreground'): Promise<void> {
    const { environment, isStopping } = this.#options;
    if (isStopping() || this.#underWay.has(id)) return;
    const admitted = lane === 'background' ? this.#enterBackground() : this.#gate.enter();
    const loading = this.#bringWith(admitted, id, load)
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

  async #enterBackground(): Promise<LoadPermit> {
    const endTurn = await this.#background.enter();
    const permit = await this.#gate.enter();
    return {
      loaded: (length) => permit.loaded(length),
      end: () => {
        permit.end();
        endTurn();
      },
    };
  }

  async #bringWith(admitted: Promise<LoadPermit>, id: string, load: Load): Promise<void> {
    const { loaded, memory, reload } = this.#options;
    let lacking = await this.#loadWith(await admitted, id, load);
    while (lacking !== null) {
      if (!(await memory.enter(lacking))) {
        loaded(id, false);
        return;
      }
      lacking = await this.#loadWith(await this.#gate.enter(), id, () => reload(id));
    }
  }

  /** Answers an instance for which there is no memory now; null: it was done, or need not be done. */
  async #loadWith(permit: LoadPermit, id: string, load: Load): Promise<Comer | null> {
    const { activate, environment, isHere, isStopping, isWorking, loaded, memory } = this.#options;
    const attempt = async (): Promise<{ readonly lacking: Comer | null }> => {
      const record = await load();
      if (record === null) return { lacking: null };
      permit.loaded(lengthOf(record));
      const comer = { id, rootId: record.rootId ?? id, bytes: recordCost(record) };
      if (!memory.tryEnter(comer)) return { lacking: comer };
      await activate(record);
      return { lacking: null };
    };
    try {
      const done = await environment.retryStore(attempt, isStopping);
      const lacking = done?.lacking ?? null;
      if (lacking === null) loaded(id, done !== null);
      return lacking;
    } finally {
      if (!isHere(id)) memory.notComing(id);
      if (isWorking(id) && !this.#permits.has(id)) this.#permits.set(id, permit);
      else permit.end();
    }
  }
}

function lengthOf({ inbox, state }: InstanceRecord): number {
  return inbox.reduce((length, { body }) => length + body.length, state.length);
}
