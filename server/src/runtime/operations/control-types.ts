/** Control actions on instances. */
import type { ControlAction } from '../../store/records/control.js';
import type { InstanceStatus } from '../../store/records/instances.js';

/** The actor if no token identifies one. */
export const ANONYMOUS = 'anonymous';

/**
 * The actions on an instance as a whole. `compensate`: terminate with compensation; `retry`: steps that wait for a retry
 * are retried now.
 */
export type InstanceAction = ControlAction | 'retry';

export interface ControlOptions {
  /** For the audit of the instance. */
  readonly detail?: string | null;
  /** With `compensate`: how long work in flight is waited for. Default: 10 minutes. */
  readonly graceMs?: number;
}

export interface ControlOutcome {
  readonly workflowId: string;
  /** `refused`: the status of the instance does not allow the action. */
  readonly outcome: 'done' | 'refused' | 'missing';
  readonly status: InstanceStatus | null;
}
