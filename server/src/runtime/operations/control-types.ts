/** What people do to instances. */
import type { ControlAction } from '../../store/records/control.js';
import type { InstanceStatus } from '../../store/records/instances.js';

/** Who acts where no token says who it is. */
export const ANONYMOUS = 'anonymous';

/**
 * What can be done to an instance as a whole. `compensate`: terminate with compensation; `retry`: steps that wait for
 * another try are tried now.
 */
export type InstanceAction = ControlAction | 'retry';

export interface ControlOutcome {
  readonly workflowId: string;
  /** `refused`: its status does not allow it. */
  readonly outcome: 'done' | 'refused' | 'missing';
  readonly status: InstanceStatus | null;
}
