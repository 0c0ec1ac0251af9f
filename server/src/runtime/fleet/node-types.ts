/** Nodes as operators see them. Times are milliseconds since 1970. */
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
  /** Why the node isn't ready, in sentences; empty if it is. */
  readonly reasons: readonly string[];
}

/** A node: the lifetime of one process that shares the store. */
export interface NodeView {
  readonly id: string;
  readonly url: string;
  readonly hostname: string;
  readonly pid: number;
  readonly version: string;
  readonly lastBeatTime: number;
  readonly isAlive: boolean;
  /** True for the responding node. */
  readonly isThis: boolean;
  /** Not reachable if the node cannot write its heartbeat. */
  readonly store: { readonly kind: Store['kind']; readonly reachable: boolean };
  /** From the last heartbeat; null if the node does not report them. */
  readonly details: NodeDetails | null;
}

/** The polls for an activity on all nodes. For dead nodes, only the last poll counts. */
export interface Polling {
  readonly pollers: number;
  /** Milliseconds since 1970; null if no node remembers a poll. */
  readonly lastPollTime: number | null;
}
