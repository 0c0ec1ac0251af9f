/**
 * Hints between nodes: "look again now". Nothing that is sent here is needed for correctness; every hint that is lost
 * is made up for by a scan of the store within a second or two.
 */
import type { InstanceOutcome, InstanceStatus } from '../engine/model/instance.js';
import type { Service } from '../base/service.js';

export type Hint =
  /** An instance has new messages, or was created for another node. */
  | { readonly kind: 'instance'; readonly id: string }
  /** Work for an activity name became available. */
  | { readonly kind: 'activity'; readonly name: string }
  /** A definition has a new version. */
  | { readonly kind: 'definition'; readonly id: string }
  /** A custom step has a new version. */
  | { readonly kind: 'step'; readonly name: string }
  /** An instance has ended. */
  | { readonly kind: 'ended'; readonly id: string }
  /** Somebody on the sending node wants to hear of changes; said again every few seconds while that is so. */
  | { readonly kind: 'interest' }
  /** What changed on the sending node; sent only while another one has said that it is interested. */
  | { readonly kind: 'changes'; readonly changes: ChangeBatch };

/** An instance as it is after a commit or a control action: what lists show of it. Times in milliseconds since 1970. */
export interface WorkflowChange {
  readonly id: string;
  readonly definitionId: string;
  readonly version: number;
  readonly reference: string | null;
  readonly status: InstanceStatus;
  /** Null while it is open. */
  readonly outcome: InstanceOutcome | null;
  /** Null where no other instance started it. */
  readonly parent: { readonly workflowId: string } | null;
  readonly startTime: number;
  readonly endTime: number | null;
  readonly lastChangeTime: number;
  /** Of the newest step error, while it matters. */
  readonly failureTime: number | null;
}

export interface DefinitionChange {
  readonly id: string;
  /** The newest one. */
  readonly version: number;
}

export interface ChangeBatch {
  /** Each instance once, as it was last. */
  readonly workflows: readonly WorkflowChange[];
  readonly definitions: readonly DefinitionChange[];
  /** More changed than is said here. */
  readonly lagged: boolean;
}

/** A batch with more entries is sent in pieces; one that arrives with more of them was sent by nobody of ours. */
export const CHANGES_PER_HINT_MAX = 50;

export interface Backplane extends Service {
  readonly kind: 'local' | 'redis';
  /** Tells every other node. Returns at once and never throws; a hint that cannot be sent is dropped and counted. */
  publish(hint: Hint): void;
  /** Called for the hints of other nodes, not for one's own. */
  subscribe(listener: (hint: Hint) => void): void;
  /** False while the connection is down. */
  readonly healthy: boolean;
}
