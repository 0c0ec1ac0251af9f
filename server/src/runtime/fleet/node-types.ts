/** What operators see of this node and of the others. Times are milliseconds since 1970. */
import type { Backplane } from '../../backplane/backplane.js';
import type { Store } from '../../store/store.js';
import type { NodeDetails } from './node-details.js';

export interface ServerInfo {
  readonly name: string;
  readonly version: string;
  readonly startTime: number;
  readonly machineName: string;
  readonly osVersion: string;
  readonly workingSet: number;
  readonly nodeId: string;
  readonly store: Store['kind'];
  readonly backplane: Backplane['kind'];
}

export interface Readiness {
  readonly ready: boolean;
  /** Why not, in sentences; empty when ready. */
  readonly reasons: readonly string[];
}

/** One process life that shares the store. */
export interface NodeView {
  readonly id: string;
  readonly url: string;
  readonly hostname: string;
  readonly pid: number;
  readonly version: string;
  readonly lastBeatTime: number;
  readonly isAlive: boolean;
  /** The one that answers. */
  readonly isThis: boolean;
  /** Not reachable for a node that cannot write its heartbeat. */
  readonly store: { readonly kind: Store['kind']; readonly reachable: boolean };
  /** Of the last heartbeat; null where the node does not tell. */
  readonly details: NodeDetails | null;
}

/** Who polls for an activity, over all nodes. Of nodes that died only when they were last asked. */
export interface Polling {
  readonly pollers: number;
  /** Milliseconds since 1970; null: never, as far as any node remembers. */
  readonly lastPollTime: number | null;
}
