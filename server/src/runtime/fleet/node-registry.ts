/**
 * Tracks which nodes share the store, and which of them are alive.
 *
 * A node is the lifetime of one process: it writes a heartbeat, and is presumed dead when the heartbeat is older than the
 * lease, or when it ran on this machine and its process is gone. A wrong presumption costs a wasted claim, never
 * correctness: the epoch of an instance is the fence.
 */
import type { Logger } from '../../base/logger.js';
import type { NodeRecord } from '../../store/records/nodes.js';
import type { Store } from '../../store/store.js';
import type { Clock } from '../../base/clock.js';
import { PeriodicTask } from '../../base/periodic-task.js';
import type { Service } from '../../base/service.js';

export interface NodeRegistryOptions {
  readonly self: Omit<NodeRecord, 'beatAt' | 'details'>;
  /** The node's report in each heartbeat. */
  readonly details: () => string;
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly beatIntervalMs: number;
  readonly leaseMs: number;
  /** Called after each heartbeat; false if it was not stored, or the store did not respond. */
  readonly onBeat: (isWritten: boolean) => void;
  /** Called after each read of the nodes. */
  readonly onRead: () => void;
  /** Called for each dead node, repeatedly until its record is removed. */
  readonly onDead: (nodeId: string) => Promise<void>;
  /** Called when other nodes have stopped and removed their records. */
  readonly onLeft: () => void;
  /** Called when the node stops; true if it still owns work that another node must continue. */
  readonly hasUnfinishedWork: () => boolean;
  /** True if the process of a node on this machine is gone; false if unknown. */
  readonly processIsGone: (node: NodeRecord) => boolean;
}

/** While there are other nodes, they are read with every heartbeat, otherwise only with every nth. */
const LIST_EVERY_BEATS_ALONE = 3;

/**
 * The record of a dead node is kept for this many leases, and its instances are taken over repeatedly: a node that was
 * wrongly presumed dead may start more work and die before its next heartbeat.
 */
const REMEMBER_DEAD_LEASES = 10;

/**
 * For this long, a process that was running counts as running. The nodes are asked about with each message to a run, and a system
 * call for each would cost more than the rest of the decision.
 */
const RUNNING_MS = 100;

/** Maximum number of gone nodes that are remembered; beyond it, they are looked up again. */
const SIGNED_OFF_MAX = 1000;

export const NOT_ATOMIC =
  'this database lets several writers win the same compare-and-set, so two nodes would change the same run';
export const ONE_NODE_ONLY =
  'use it with a single node and without Redis, or use a database with atomic document updates';

export class NodeRegistry implements Service {
  readonly #options: NodeRegistryOptions;
  readonly #beat: PeriodicTask;
  #nodes = new Map<string, NodeRecord>();
  /** The last read on demand, successful or not, and the read that waits for its end. */
  #reading: Promise<void> = Promise.resolve();
  #nextReading: Promise<void> | null = null;
  /** Dead nodes that have been taken over, so that each is logged once. */
  readonly #takenOver = new Set<string>();
  /** Takeovers in progress, by node. */
  readonly #takingOver = new Map<string, Promise<void>>();
  /** When nodes were first found dead. */
  readonly #deadSince = new Map<string, number>();
  /** Nodes that own something and have no record: they had one before, so they are permanently gone. */
  readonly #signedOff = new Set<string>();
  /** When the processes of nodes on this machine were last found running, since the last read of the nodes. */
  readonly #seenRunning = new Map<string, number>();
  #beats = 0;
  #lastBeatAt: number;
  #firstBeatAt: number | null = null;

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

  /** True on one node of the fleet, which does the work that only one node needs to do. */
  get isChosen(): boolean {
    return this.others.every(({ id }) => this.id < id);
  }

  /** Other nodes that are alive as far as this node knows. */
  get others(): readonly NodeRecord[] {
    return [...this.#nodes.values()].filter(({ id }) => id !== this.id && this.isAlive(id));
  }

  /** False if no heartbeat has reached the store for so long that others may take over this node's instances. */
  get hasHeartbeat(): boolean {
    const { clock, leaseMs } = this.#options;
    return clock.now() - this.#lastBeatAt < leaseMs;
  }

  /** True once every other node must have read this node's record, even one that was alone and reads the nodes rarely. */
  get isEstablished(): boolean {
    const { beatIntervalMs, clock } = this.#options;
    const listedMs = (LIST_EVERY_BEATS_ALONE + 1) * beatIntervalMs;
    return this.#firstBeatAt !== null && clock.now() - this.#firstBeatAt >= listedMs;
  }

  isKnown(nodeId: string): boolean {
    return this.#nodes.has(nodeId);
  }

  /** The record as of the last read. */
  recordOf(nodeId: string): NodeRecord | undefined {
    return this.#nodes.get(nodeId);
  }

  /** The latest time at which a dead node could have been working; null if it signed off, or is unknown. */
  livedUntil(nodeId: string): number | null {
    const beatAt = this.#nodes.get(nodeId)?.beatAt;
    if (beatAt === undefined) return null;
    // A node without a heartbeat for longer would have lost its instances to others.
    const leaseEndedAt = beatAt + this.#options.leaseMs;
    return Math.min(leaseEndedAt, this.#deadSince.get(nodeId) ?? leaseEndedAt);
  }

  isAlive(nodeId: string): boolean {
    if (nodeId === this.id) return true;
    const node = this.#nodes.get(nodeId);
    return node !== undefined && this.looksAlive(node);
  }

  /**
   * True if no process runs the instances of this node. An unknown node may have started since the last read, so the nodes are
   * read again: a node writes its record before it owns anything.
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

  /** Decides by a fresh record. */
  looksAlive(node: NodeRecord): boolean {
    if (node.id === this.id) return true;
    if (this.#options.clock.now() - node.beatAt > this.#options.leaseMs) return false;
    // After a crash on the same machine, there is no need to wait for the lease to expire.
    return !this.#isProcessGone(node);
  }

  /**
   * For a store that supports only one node. If two nodes start at the same time, each first writes and then reads, so that at
   * least one sees the other.
   * @throws Error naming another node that is alive
   */
  async requireOneNode(): Promise<void> {
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
    // Without a record, no node would take over this node's instances if it died, so it doesn't start without one.
    await this.#writeRecord();
    await this.#beat.start();
  }

  async stop(): Promise<void> {
    await this.#beat.stop();
    await Promise.all(this.#takingOver.values());
    const { hasUnfinishedWork, logger } = this.#options;
    // The record remains, and others will find a dead node to take over from.
    if (hasUnfinishedWork()) return;
    await this.#leave().catch((error: unknown) => {
      logger.warn(
        { err: error },
        'could not remove the record of this node; other nodes will detect that it has stopped',
      );
    });
  }

  /** A node that hasn't read this node's record wouldn't notice its removal. It finds the record of a dead node instead. */
  async #leave(): Promise<void> {
    const { clock, details, leaseMs, self, store } = this.#options;
    if (!this.isEstablished) await this.#readNodes();
    if (this.isEstablished || this.others.length === 0) await store.removeNode(this.id);
    else await store.putNode({ ...self, beatAt: clock.now() - leaseMs - 1, details: details() });
  }

  #isProcessGone(node: NodeRecord): boolean {
    const { clock, processIsGone } = this.#options;
    const now = clock.now();
    const sinceMs = now - (this.#seenRunning.get(node.id) ?? -Infinity);
    // A clock that was set back says nothing.
    if (sinceMs >= 0 && sinceMs < RUNNING_MS) return false;
    const isGone = processIsGone(node);
    if (!isGone) this.#seenRunning.set(node.id, now);
    return isGone;
  }

  async #beatOnce(): Promise<void> {
    this.#lastBeatAt = await this.#writeRecord();
    const listIsDue = this.others.length > 0 || this.#beats % LIST_EVERY_BEATS_ALONE === 0;
    if (listIsDue) await this.#lookAtOthers();
    this.#beats += 1;
  }

  /** Returns the time in the record. */
  async #writeRecord(): Promise<number> {
    const { clock, details, onBeat, self, store } = this.#options;
    const beatAt = clock.now();
    let isWritten = false;
    try {
      await store.putNode({ ...self, beatAt, details: details() });
      isWritten = true;
    } finally {
      onBeat(isWritten);
    }
    this.#firstBeatAt ??= clock.now();
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

  /** Runs independently of the heartbeats, which must not wait for it. */
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

  /** Reads the nodes after the call; concurrent callers share one read. */
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
    const nodes = await this.#options.store.listNodes();
    const before = this.#nodes;
    this.#nodes = new Map(nodes.map((node) => [node.id, node]));
    this.#seenRunning.clear();
    for (const id of this.#nodes.keys()) {
      if (this.isAlive(id)) this.#deadSince.delete(id);
      else if (!this.#deadSince.has(id)) this.#deadSince.set(id, this.#options.clock.now());
    }
    for (const id of this.#deadSince.keys()) if (!this.#nodes.has(id)) this.#deadSince.delete(id);
    this.#options.onRead();
    const isGone = (id: string): boolean => id !== this.id && !this.#nodes.has(id);
    if ([...before.keys()].some(isGone)) this.#options.onLeft();
  }
}

/** Asks the operating system about the processes of nodes on this machine. */
export function processIsGone(
  node: Pick<NodeRecord, 'hostname' | 'pid'>,
  self: Pick<NodeRecord, 'hostname' | 'pid'>,
): boolean {
  if (node.hostname !== self.hostname) return false;
  // A new process with the same number, such as a restarted container.
  if (node.pid === self.pid) return true;
  try {
    process.kill(node.pid, 0);
    return false;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ESRCH';
  }
}
