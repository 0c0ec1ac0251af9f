/** The nodes of a fleet, on the wire. */

/**
 * How busy a node was at its last heartbeat.
 */
export interface NodeLoad {
  /**
   * @isInt
   */
  instancesInMemory: number;
  /**
   * HTTP calls and scripts.
   * @isInt
   */
  callsUnderWay: number;
  /**
   * Workers that wait for work there.
   * @isInt
   */
  parkedPolls: number;
  /**
   * @isInt
   */
  memoryBytes: number;
  /**
   * Since the heartbeat before; 100 is one processor core.
   */
  cpuPercent: number;
  /**
   * How long work that was ready waited for its turn.
   */
  eventLoopDelayMs: number;
}

/**
 * One process of the server. One that was started again is another node.
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
   * Where it listens, as it was set up.
   */
  url: string;
  hostname: string;
  /**
   * @isInt
   */
  pid: number;
  version: string;
  /**
   * ISO 8601, UTC; null where the node does not tell.
   */
  startTime: string | null;
  /**
   * ISO 8601, UTC.
   */
  lastBeatTime: string;
  /**
   * False when its heartbeat is overdue or its process is gone; others take over what it ran.
   */
  alive: boolean;
  /**
   * It is the one that answers.
   */
  isThis: boolean;
  /**
   * Null where the node does not tell.
   */
  load: NodeLoad | null;
  /**
   * Not reachable for a node that cannot write its heartbeat.
   */
  store: { kind: string; reachable: boolean };
  /**
   * How nodes tell each other what is new; while it is away they find out from the store. Null where the node does not
   * tell.
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
