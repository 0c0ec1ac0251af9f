/** What people do to instances: the actions, the status that each leads to, and the record of who did it. */
import type { InstanceRecord, InstanceStatus } from './instances.js';

/** `compensate`: the instance is to compensate what it has done and to end then; a message tells it. */
export type ControlAction = 'suspend' | 'resume' | 'terminate' | 'compensate';

export type ControlResult =
  | { readonly outcome: 'done'; readonly record: InstanceRecord }
  /** The status does not allow it (or, for terminate, the instance had ended), or it was told before: nothing was changed. */
  | { readonly outcome: 'refused'; readonly record: InstanceRecord }
  | { readonly outcome: 'missing' };

/** What somebody did to an instance. */
export type AuditAction =
  | Exclude<ControlAction, 'compensate'>
  | 'retry'
  | 'publish-event'
  | 'complete-activity'
  | 'fail-activity';

export interface AuditEntry {
  readonly time: number;
  /** Who did it, as far as the server knows. */
  readonly actor: string;
  readonly action: AuditAction;
  /** What exactly, in words. */
  readonly detail: string | null;
}

/** Of each instance so many entries are kept, the newest. */
export const AUDIT_ENTRIES_MAX = 100;

/** Which statuses an action is possible in, and the one that it leads to. */
export const NEXT_STATUS: Readonly<
  Record<ControlAction, { readonly from: readonly InstanceStatus[]; readonly to: InstanceStatus }>
> = {
  suspend: { from: ['Runnable'], to: 'Suspended' },
  resume: { from: ['Suspended'], to: 'Runnable' },
  terminate: { from: ['Runnable', 'Suspended'], to: 'Terminated' },
  compensate: { from: ['Runnable', 'Suspended'], to: 'Runnable' },
};
