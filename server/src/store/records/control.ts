/** Control actions on instances: the actions, the status that each leads to, and the record of who performed them. */
import type { Tags } from '../../engine/values/tags.js';
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

/** New values by name; null removes the tag. */
export type TagChanges = Readonly<Record<string, string | null>>;

export type PatchTagsResult =
  | { readonly outcome: 'done'; readonly record: InstanceRecord }
  /** The instance would have more than TAGS_MAX tags. Nothing was changed. */
  | { readonly outcome: 'too-many'; readonly record: InstanceRecord }
  | { readonly outcome: 'missing' };

export type SetPriorityResult =
  | { readonly outcome: 'done'; readonly record: InstanceRecord }
  /** The instance has ended. Nothing was changed. */
  | { readonly outcome: 'refused'; readonly record: InstanceRecord }
  | { readonly outcome: 'missing' };

/** The tags after the changes. */
export function patchedTags(tags: Tags, changes: TagChanges): Tags {
  const patched = new Map(Object.entries(tags));
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) patched.delete(name);
    else patched.set(name, value);
  }
  // Defines own members, whatever their names are.
  return Object.fromEntries(patched);
}

/** An action on an instance that is recorded in its audit. */
export type AuditAction =
  | Exclude<ControlAction, 'compensate'>
  | 'retry'
  | 'publish-event'
  | 'complete-activity'
  | 'fail-activity'
  | 'set-tags'
  | 'set-priority'
  | 'restart'
  | 'modify'
  | 'rerun';

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
