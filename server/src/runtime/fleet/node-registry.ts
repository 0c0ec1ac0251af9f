/**
 * Which nodes share the store, and which of them live.
 *
 * A node is one process life: it writes a heartbeat, and is taken for dead when the beat is older than the lease, or
 * when it ran on this machine and its process is gone. Being wrong costs a wasted claim, never correctness: the epoch of
 * an instance is the fence.
 */
import type { Logger } from '../../base/logger.js';
import type { NodeRecord } from '../../store/records/nodes.js';
import type { Store } from '../../store/store.js';
import type { Clock } from '../../base/clock.js';
import { PeriodicTask } from '../../base/periodic-task.js';
import type { Service } from '../../base/service.js';

export interface NodeRegistryOptions {
  readonly self: Omit<NodeRecord, 'beatAt' | 'details'>;
  /** What the node tells of itself with each beat. */
  readonly details: () => string;
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly beatIntervalMs: number;
  readonly leaseMs: number;
  /** Called for each node that is found dead, again and again until its record is removed. */
  readonly onDead: (nodeId: string) => Promise<void>;
  /** Asked in the end: whether this node still owns what somebody must go on with. */
  readonly leavesWork: () => boolean;
  /** Whether the process of a node on this machine is gone; false where that cannot be told. */
  readonly processIsGone: (node: NodeRecord) => boolean;
}

/** Other nodes are looked at with every beat while there are any, otherwise only with every so many. */
const LIST_EVERY_BEATS_ALONE = 3;

/**
 * The record of a dead node stays for so many leases, and what it owns is taken over again and again: a node that was
 * taken for dead by mistake may start something more and die before its next beat.
 */
const REMEMBER_DEAD_LEASES = 10;

/** Nodes that are known to be gone are remembered up to this number; then they are looked up again. */
const SIGNED_OFF_MAX = 1000;

export const NOT_ATOMIC =
  'this database lets several writers win the same compare-and-set, so two nodes would change the same run';
export const ONE_NODE_ONLY =
  'use it with a single node and without Redis, or use a database with atomic document updates';

export class NodeRegistry implements Service {
  readonly #options: NodeRegistryOptions;
  readonly #beat: PeriodicTask;
  #nodes = new Map<string, NodeRecord>();
  /** The last reading on demand, whether it succeeded or not, and the one that waits for its end. */
  #reading: Promise<void> = Promise.resolve();
  #nextReading: Promise<void> | null = null;
  /** Dead nodes that were taken over already, so that the log says it once. */
  readonly #takenOver = new Set<string>();
  /** Take-overs under way, by node. */
  readonly #takingOver = new Map<string, Promise<void>>();
  /** When nodes were first seen dead. */
  readonly #deadSince = new Map<string, number>();
  /** Nodes that own something and have no record: they had one before, so they are gone for good. */
  readonly #signedOff = new Set<string>();
  #beats = 0;
  #lastBeatAt: number;

  constructor(options: NodeRegistryOptions) {
    this.#options = options;
    this.#lastBeatAt = options.clock.now();
    this.#beat = new PeriodicTask({
      name: 'write the heartbeat',
      clock: options.clock,
      logger: options.logger,
      intervalMs: options.beatIntervalMs,
      run: () => this.#beatOnce(),
    });
  }

  get id(): string {
    return this.#options.self.id;
  }

  /** Other nodes that are alive as far as is known. */
  get others(): readonly NodeRecord[] {
    return [...this.#nodes.values()].filter(({ id }) => id !== this.id && this.isAlive(id));
  }

  /** False when the heartbeat has not reached the store for so long that others may take over what is ours. */
  get isBeating(): boolean {
    const { clock, leaseMs } = this.#options;
    return clock.now() - this.#lastBeatAt < leaseMs;
  }

  isKnown(nodeId: string): boolean {
    return this.#nodes.has(nodeId);
  }

  /** As it was last read. */
  recordOf(nodeId: string): NodeRecord | undefined {
    return this.#nodes.get(nodeId);
  }

  /** The latest time at which a node that died can have been at work; null: it signed off, or is not known. */
  livedUntil(nodeId: string): number | null {
    const beatAt = this.#nodes.get(nodeId)?.beatAt;
    if (beatAt === undefined) return null;
    // One that lived longer without a beat would have lost what it had to others.
    const leaseEndedAt = beatAt + this.#options.leaseMs;
    return Math.min(leaseEndedAt, this.#deadSince.get(nodeId) ?? leaseEndedAt);
  }

  isAlive(nodeId: string): boolean {
    if (nodeId === this.id) return true;
    const node = this.#nodes.get(nodeId);
    return node !== undefined && this.looksAlive(node);
  }

  /**
   * Whether nobody runs what this node owns. One that is not known yet may have come since the nodes were last read, so
   * they are read again: a node writes its record before it owns anything.
   */
  async isGone(nodeId: string): Promise<boolean> {
    if (this.isAlive(nodeId)) return false;
    if (this.isKnown(nodeId) || this.#signedOff.has(nodeId)) return true;
    await this.#readNodesAnew();
    if (this.isKnown(nodeId)) return !this.isAlive(nodeId);
    if (this.#signedOff.size >= SIGNED_OFF_MAX) this.#signedOff.clear();
    this.#signedOff.add(nodeId);
    return true;
  }

  /** Judges by a record that was just read. */
  looksAlive(node: NodeRecord): boolean {
    if (node.id === this.id) return true;
    if (this.#options.clock.now() - node.beatAt > this.#options.leaseMs) return false;
    // After a crash on the same machine nobody has to wait for the lease to run out.
    return !this.#options.processIsGone(node);
  }

  /**
   * For a store on which nodes cannot be kept apart. Of two nodes that start at once each writes first and looks second,
   * so that at least one of them sees the other.
   * @throws Error that names another node that lives
   */
  async demandToBeAlone(): Promise<void> {
    await this.#writeRecord();
    await this.#readNodes();
    const [other] = this.others;
    if (other === undefined) return;
    await this.#options.store.removeNode(this.id);
    const where = `${other.hostname}, process ${other.pid}`;
    throw new Error(
      `${NOT_ATOMIC}, and node ${other.id} (${where}) is already using it: ${ONE_NODE_ONLY}`,
    );
  }

  async start(): Promise<void> {
    // Without a record nobody would take over what this node owns when it dies, so it does not start without one.
    await this.#writeRecord();
    await this.#beat.start();
  }

  async stop(): Promise<void> {
    await this.#beat.stop();
    await Promise.all(this.#takingOver.values());
    // The record stays, and others will find a dead node whose work they take over.
    if (this.#options.leavesWork()) return;
    await this.#options.store.removeNode(this.id).catch((error: unknown) => {
      this.#options.logger.warn(
        { err: error },
        'could not remove the record of this node; other nodes will detect that it has stopped',
      );
    });
  }

  async #beatOnce(): Promise<void> {
    this.#lastBeatAt = await this.#writeRecord();
    const listIsDue = this.others.length > 0 || this.#beats % LIST_EVERY_BEATS_ALONE === 0;
    this.#beats += 1;
    if (listIsDue) await this.#lookAtOthers();
  }

  /** Answers the time that the record tells. */
  async #writeRecord(): Promise<number> {
    const { clock, details, self, store } = this.#options;
    const beatAt = clock.now();
    await store.putNode({ ...self, beatAt, details: details() });
    return beatAt;
  }

  async #lookAtOthers(): Promise<void> {
    const { clock, leaseMs, logger, store } = this.#options;
    await this.#readNodes();
    for (const node of [...this.#nodes.values()]) {
      if (this.isAlive(node.id)) continue;
      if (!this.#takenOver.has(node.id)) {
        logger.info(
          { node: node.id, host: node.hostname, pid: node.pid },
          'taking over from a dead node',
        );
      }
      const isRemembered = clock.now() - node.beatAt <= REMEMBER_DEAD_LEASES * leaseMs;
      if (isRemembered || !this.#takenOver.has(node.id)) {
        this.#takeOver(node.id);
        continue;
      }
      await store.removeNode(node.id);
      this.#nodes.delete(node.id);
    }
    for (const id of this.#takenOver) {
      if (!this.#nodes.has(id) || this.isAlive(id)) this.#takenOver.delete(id);
    }
  }

  /** Takes its time beside the heartbeats, which must not wait for it. */
  #takeOver(nodeId: string): void {
    if (this.#takingOver.has(nodeId)) return;
    const { logger, onDead } = this.#options;
    const takingOver = onDead(nodeId)
      .then(() => {
        this.#takenOver.add(nodeId);
      })
      .catch((error: unknown) => {
        logger.warn(
          { err: error, node: nodeId },
          'could not take over from a dead node; trying again',
        );
      })
      .finally(() => this.#takingOver.delete(nodeId));
    this.#takingOver.set(nodeId, takingOver);
  }

  /** A reading that began after the call; callers of the same moment share one. */
  #readNodesAnew(): Promise<void> {
    this.#nextReading ??= this.#reading.then(() => {
      this.#nextReading = null;
      const reading = this.#readNodes();
      this.#reading = reading.catch(() => undefined);
      return reading;
    });
    return this.#nextReading;
  }

  async #readNodes(): Promise<void> {
    this.#nodes = new Map((await this.#options.store.listNodes()).map((node) => [node.id, node]));
    for (const id of this.#nodes.keys()) {
      if (this.isAlive(id)) this.#deadSince.delete(id);
      else if (!this.#deadSince.has(id)) this.#deadSince.set(id, this.#options.clock.now());
    }
    for (const id of this.#deadSince.keys()) if (!this.#nodes.has(id)) this.#deadSince.delete(id);
  }
}

/** Tells of nodes on this machine by asking the operating system for their process. */
export function processIsGone(
  node: Pick<NodeRecord, 'hostname' | 'pid'>,
  self: Pick<NodeRecord, 'hostname' | 'pid'>,
): boolean {
  if (node.hostname !== self.hostname) return false;
  // Another life with the number of this process: a container that was started again.
  if (node.pid === self.pid) return true;
  try {
    process.kill(node.pid, 0);
    return false;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ESRCH';
  }
}
