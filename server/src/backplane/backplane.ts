/**
 * Hints between nodes that something has changed. Correctness does not depend on them: a scan of the store makes up for
 * a lost hint within seconds.
 */
import type { InstanceOutcome, InstanceStatus } from '../engine/model/instance.js';
import type { Service } from '../base/service.js';

export type Hint =
  /** An instance has changed: its owner must check it, or every node if no owner is given. */
  | { readonly kind: 'instance'; readonly id: string; readonly owner?: string }
  /** Work for an activity name has become available. */
  | { readonly kind: 'activity'; readonly name: string }
  /** A definition has a new version. */
  | { readonly kind: 'definition'; readonly id: string }
  /** A custom step has a new version. */
  | { readonly kind: 'step'; readonly name: string }
  /** A limit was set up, changed or removed. */
  | { readonly kind: 'limit'; readonly name: string }
  /** Notifications were set up, changed, paused or removed. */
  | { readonly kind: 'notifications' }
  /** An instance has ended. */
  | { readonly kind: 'ended'; readonly id: string }
  /** The sending node has readers of changes; repeated every few seconds as long as it has. */
  | { readonly kind: 'interest' }
  /** Changes on the sending node; sent only while another node has readers. */
  | { readonly kind: 'changes'; readonly changes: ChangeBatch };

/**
 * An instance after a commit or a control action, with the fields that lists show, except tags and index fields. Times in milliseconds since 1970.
 */
export interface ChangedInstance {
  readonly id: string;
  readonly definitionId: string;
  readonly version: number;
  readonly reference: string | null;
  readonly status: InstanceStatus;
  /** Null while the instance is open. */
  readonly outcome: InstanceOutcome | null;
  /** Null if no other instance started it. */
  readonly parent: { readonly workflowId: string } | null;
  readonly startTime: number;
  readonly endTime: number | null;
  readonly lastChangeTime: number;
  /** Time of the most recent step error, as long as the instance shows it. */
  readonly failureTime: number | null;
  /** When that step began to fail for that cause. */
  readonly failingSince: number | null;
}

export interface ChangedDefinition {
  readonly id: string;
  /** The latest version. */
  readonly version: number;
}

export interface ChangeBatch {
  /** Each instance appears once, in its latest state. */
  readonly workflows: readonly ChangedInstance[];
  readonly definitions: readonly ChangedDefinition[];
  /** The batch is incomplete. */
  readonly lagged: boolean;
}

/** A batch with more entries is sent in parts; a batch that arrives with more entries did not come from a node. */
export const CHANGES_PER_HINT_MAX = 50;

export interface Backplane extends Service {
  readonly kind: 'local' | 'redis' | 'postgres';
  /** Tells every other node. Returns at once and never throws; a hint that cannot be sent is dropped and counted. */
  publish(hint: Hint): void;
  /**
   * `listener` is called for the hints of other nodes, not for one's own. `isShared` tells whether other nodes use the
   * store, as far as this one knows: hints to nobody need not be sent.
   */
  subscribe(listener: (hint: Hint) => void, isShared: () => boolean): void;
  /** False while the connection is down. */
  readonly healthy: boolean;
}
