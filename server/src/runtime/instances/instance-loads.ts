/**
 * The loads of a node: one at a time per instance, and all together within the limits of the gate. Without memory for it, an
 * instance queues, and is read again when its turn comes. Until then, it takes no memory.
 */
import type { InstanceRecord } from '../../store/records/instances.js';
import type { RunnerEnvironment } from './runner-environment.js';
import type { MemoryRequest, InstanceMemory } from '../memory/instance-memory.js';
import { LoadGate, type LoadLimits, type LoadPermit } from '../memory/load-gate.js';
import { BackgroundLoads } from './background-loads.js';
import { recordCost } from '../instance-state/message-codec.js';

/** Returns an instance that must be activated, or null if there is nothing to do. */
export type Load = () => Promise<InstanceRecord | null>;

/** A claim without a response may have been stored (rule S5), so after the first attempt, the instance is read. */
export function claimOnce(claim: Load, read: Load): Load {
  let isFirst = true;
  return () => {
    if (!isFirst) return read();
    isFirst = false;
    return claim();
  };
}

/** Background loads are loads of overdue instances and instances of dead nodes: no caller waits for them. */
export type LoadPriority = 'foreground' | 'background';

export interface InstanceLoadsOptions {
  readonly environment: Pick<RunnerEnvironment, 'clock' | 'logger' | 'retryStore'>;
  readonly limits: LoadLimits;
  readonly memory: Pick<InstanceMemory, 'tryEnter' | 'enter' | 'notComing'>;
  /** Reads an instance again after it has waited for memory. */
  readonly reload: (instanceId: string) => Promise<InstanceRecord | null>;
  readonly isStopping: () => boolean;
  readonly activate: (record: InstanceRecord) => Promise<void>;
  readonly isHere: (instanceId: string) => boolean;
  /** True if the instance is in memory and working. */
  readonly isWorking: (instanceId: string) => boolean;
  /** `isDone` is false if the node stopped before the load was complete. */
  readonly loaded: (instanceId: string, isDone: boolean) => void;
}

/** A node with a quarter of its loads in use is busy. */
const BUSY_DIVISOR = 4;

export class InstanceLoads {
  readonly #options: InstanceLoadsOptions;
  readonly #gate: LoadGate;
  readonly #background: BackgroundLoads;
  readonly #underWay = new Map<string, Promise<unknown>>();
  /** Permits of instances that are in memory and have not yet come to rest. */
  readonly #permits = new Map<string, LoadPermit>();

  constructor(options: InstanceLoadsOptions) {
    this.#options = options;
    this.#gate = new LoadGate(options.limits);
    this.#background = new BackgroundLoads(options.environment.clock);
  }

  /** True if many instances are being read or set to work. */
  get isBusy(): boolean {
    return this.#gate.underWay >= this.#options.limits.countMax / BUSY_DIVISOR;
  }

  /** Called when a client was served: background loads use less capacity for a while. */
  served(): void {
    this.#background.served();
  }

  /** Resolves when the load is admitted: the next one may then be requested. */
  async bring(id: string, load: Load, lane: LoadPriority = 'foreground'): Promise<void> {
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

  /** Brings an instance that this node has claimed. A load that began earlier may not have seen the claim. */
  async bringClaimed(record: InstanceRecord): Promise<void> {
    const { isStopping, loaded, reload } = this.#options;
    const { id } = record;
    const isFirst = !this.#underWay.has(id);
    while (this.#underWay.has(id)) await this.#underWay.get(id);
    const read: Load = () => reload(id);
    if (isStopping()) loaded(id, false);
    else await this.bring(id, isFirst ? claimOnce(() => Promise.resolve(record), read) : read);
  }

  /** Called when the instance has finished its first work after the load, or has left memory. */
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

  /** Returns a request for memory if there isn't enough now, or null if the load is done or not needed. */
  async #loadWith(permit: LoadPermit, id: string, load: Load): Promise<MemoryRequest | null> {
    const { activate, environment, isHere, isStopping, isWorking, loaded, memory } = this.#options;
    const attempt = async (): Promise<{ readonly lacking: MemoryRequest | null }> => {
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
