/** Nodes as they are stored. */

export interface NodeRecord {
  /** One process life; a restarted server is another node. */
  readonly id: string;
  readonly beatAt: number;
  readonly url: string;
  readonly version: string;
  readonly hostname: string;
  readonly pid: number;
  /** What the node tells of itself with each beat, as JSON text; null: nothing. */
  readonly details: string | null;
}
