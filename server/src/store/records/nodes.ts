/** Nodes as they are stored. */

export interface NodeRecord {
  /** One process lifetime; a restarted server is a new node. */
  readonly id: string;
  readonly beatAt: number;
  readonly url: string;
  readonly version: string;
  readonly hostname: string;
  readonly pid: number;
  /** What the node reports about itself with each heartbeat, as JSON text; null if nothing. */
  readonly details: string | null;
}
