/** Control actions on instances: the actions, the status that each leads to, and the record of who performed them. */
import type { InstanceRecord, InstanceStatus } from './instances.js';

/** `compensate` asks the instance to compensate its completed steps and then to end; a message carries the request. */
export type ControlAction = 'suspend' | 'resume' | 'terminate' | 'compensate';

export type ControlResult =
  | { readonly outcome: 'done'; readonly record: InstanceRecord }
  /**
   * The status does not allow the action (for `terminate`: the instance had already ended), or the instance has already
   * been asked to compensate. Nothing was changed.
   */
  | { readonly outcome: 'refused'; readonly record: InstanceRecord }
  | { readonly outcome: 'missing' };

/** An action on an instance that is recorded in its audit. */
export type AuditAction =
  | Exclude<ControlAction, 'compensate'>
  | 'retry'
  | 'publish-event'
  | 'complete-activity'
  | 'fail-activity';

export interface AuditEntry {
  readonly time: number;
  /** Who performed the action, as far as the server knows. */
  readonly actor: string;
  readonly action: AuditAction;
  /** Details, as text. */
  readonly detail: string | null;
}

/** Maximum number of entries kept for each instance; the oldest are removed. */
export const AUDIT_ENTRIES_MAX = 100;

/** The statuses in which each action is possible, and the status that it leads to. */
export const NEXT_STATUS: Readonly<
  Record<ControlAction, { readonly from: readonly InstanceStatus[]; readonly to: InstanceStatus }>
> = {
  suspend: { from: ['Runnable'], to: 'Suspended' },
  resume: { from: ['Suspended'], to: 'Runnable' },
  terminate: { from: ['Runnable', 'Suspended'], to: 'Terminated' },
  compensate: { from: ['Runnable', 'Suspended'], to: 'Runnable' },
};
