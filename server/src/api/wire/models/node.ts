/** The wire types of nodes. */
import type { Time } from './time.js';

/**
 * The load of a node at its last heartbeat.
 */
export interface NodeLoad {
  /**
   * The number of runs in memory.
   * @isInt
   */
  instancesInMemory: number;
  /**
   * The number of HTTP calls and scripts in progress.
   * @isInt
   */
  callsUnderWay: number;
  /**
   * The number of worker polls waiting on this node.
   * @isInt
   */
  parkedPolls: number;
  /**
   * @isLong
   */
  memoryBytes: number;
  /**
   * Average since the previous heartbeat; 100 is one CPU core.
   */
  cpuPercent: number;
  /**
   * How long ready work has waited for the event loop.
   */
  eventLoopDelayMs: number;
}

/**
 * A server process. A restarted process is a new node.
 *
 * @example {
 *   "nodeId": "host-1-4711-0a1b2c3d",
 *   "url": "http://0.0.0.0:5001",
 *   "hostname": "host-1",
 *   "pid": 4711,
 *   "version": "0.1.0",
 *   "startTime": "2026-05-04T10:20:30.123Z",
 *   "lastBeatTime": "2026-05-04T10:21:30.123Z",
 *   "alive": true,
 *   "isThis": true,
 *   "load": {
 *     "instancesInMemory": 12,
 *     "callsUnderWay": 1,
 *     "parkedPolls": 3,
 *     "memoryBytes": 120000000,
 *     "cpuPercent": 7,
 *     "eventLoopDelayMs": 1
 *   },
 *   "store": { "kind": "mongo", "reachable": true },
 *   "backplane": { "kind": "redis", "connected": true }
 * }
 */
export interface Node {
  nodeId: string;
  /**
   * The configured address that the node listens on.
   */
  url: string;
  hostname: string;
  /**
   * @isInt
   */
  pid: number;
  version: string;
  /**
   * ISO 8601, UTC; null if the node does not report it.
   */
  startTime: Time | null;
  /**
   * ISO 8601, UTC.
   */
  lastBeatTime: Time;
  /**
   * False if the node is presumed dead or its process has ended. The other nodes then take over its runs.
   */
  alive: boolean;
  /**
   * Whether this node sent the response.
   */
  isThis: boolean;
  /**
   * Null if the node does not report it.
   */
  load: NodeLoad | null;
  /**
   * Unreachable if the node can't write its heartbeat.
   */
  store: { kind: string; reachable: boolean };
  /**
   * How the nodes notify each other. While the backplane is unavailable, they read changes from the store. Null if the
   * node does not report it.
   */
  backplane: { kind: string; connected: boolean } | null;
}

/**
 * The nodes that share the store: all of them on one page.
 */
export interface NodePage {
  items: Node[];
  /**
   * Always null.
   */
  nextCursor: string | null;
}
