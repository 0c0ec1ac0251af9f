/**
 * Instances that SubWorkflow steps start: their ids, and their link to the step.
 *
 *  CI1 An id is derived from the execution that starts it, so that a repeated start is the same one.
 *  CI2 It stays short however many have started one another: a long one is replaced by a hash, to which the next is added.
 */
import type { ParentLink, WorkflowInstance } from './instance.js';
import { executionKey, type Pointer } from './pointer.js';

/** Leaves room for what is derived from the id: keys of activities, tokens, paths. */
const ID_LENGTH_MAX = 120;

/** The instance that an execution starts. */
export function childIdOf(instanceId: string, execution: Pick<Pointer, 'id' | 'attempt'>): string {
  const key = executionKey(instanceId, execution).replaceAll('/', '.');
  return key.length <= ID_LENGTH_MAX ? key : `c-${hash128(key)}`;
}

export function parentLinkOf(
  instance: Pick<WorkflowInstance, 'id' | 'parent'>,
  { attempt, id: pointerId, stepId }: Pick<Pointer, 'id' | 'attempt' | 'stepId'>,
  waits: boolean,
): ParentLink {
  const waiting = waits ? waitsAbove(instance.parent) + 1 : 0;
  return { workflowId: instance.id, pointerId, attempt, stepId, waiting, rootId: rootOf(instance) };
}

/** The instance at the top, which a client started. Where it was not noted, the topmost one that is known. */
export function rootOf({ id, parent }: Pick<WorkflowInstance, 'id' | 'parent'>): string {
  return parent === null ? id : (parent.rootId ?? parent.workflowId);
}

/** How many waits for sub-workflows end only when an instance with this link has ended. */
export function waitsAbove(parent: ParentLink | null): number {
  return parent?.waiting ?? 0;
}

const FNV_OFFSET = 0x6c62272e07bb014262b821756295c58dn;
const FNV_PRIME = 0x0000000001000000000000000000013bn;

/** FNV-1a: pure, and wide enough for ids that are random at their root. */
function hash128(text: string): string {
  let hash = FNV_OFFSET;
  for (const letter of text) {
    hash = BigInt.asUintN(128, (hash ^ BigInt(letter.codePointAt(0) ?? 0)) * FNV_PRIME);
  }
  return hash.toString(16).padStart(32, '0');
}
