/** Control actions on instances. */
import type { ControlAction } from '../../store/records/control.js';
import type { InstanceStatus } from '../../store/records/instances.js';

/** The actor if no token identifies one. */
export const ANONYMOUS = 'anonymous';

/**
 * The actions on an instance as a whole. `compensate`: terminate with compensation; `retry`: retries waiting steps immediately.
 */
export type InstanceAction = ControlAction | 'retry';

export interface ControlOptions {
  /** For the instance's audit. */
  readonly detail?: string | null;
  /** With `compensate`: how long to wait for work in flight. Default: 10 minutes. */
  readonly graceMs?: number;
}

export interface ControlOutcome {
  readonly workflowId: string;
  /** `refused`: the instance's status doesn't allow the action. */
  readonly outcome: 'done' | 'refused' | 'missing';
  readonly status: InstanceStatus | null;
}
