/**
 * Instances that SubWorkflow steps start: their ids, and their link to the step.
 *
 *  CI1 An id is derived from the execution that starts the instance, so that a repeated start has the same id.
 *  CI2 Ids stay short at any depth of nesting: a long id is replaced by a hash, to which the next part is appended.
 */
import type { ParentLink, Instance } from './instance.js';
import { executionKey, type Pointer } from './pointer.js';

/** Leaves room for strings derived from the id: keys of activities, tokens, paths. */
const ID_LENGTH_MAX = 120;

/** The id of the instance that an execution starts. */
export function childIdOf(instanceId: string, execution: Pick<Pointer, 'id' | 'attempt'>): string {
  const key = executionKey(instanceId, execution).replaceAll('/', '.');
  return key.length <= ID_LENGTH_MAX ? key : `c-${hash128(key)}`;
}

export function parentLinkOf(
  instance: Pick<Instance, 'id' | 'parent'>,
  { attempt, id: pointerId, stepId }: Pick<Pointer, 'id' | 'attempt' | 'stepId'>,
  waits: boolean,
): ParentLink {
  const waiting = waits ? waitsAbove(instance.parent) + 1 : 0;
  return { workflowId: instance.id, pointerId, attempt, stepId, waiting, rootId: rootOf(instance) };
}

/** The root: the topmost instance, which a client started. If it wasn't recorded, the topmost known instance. */
export function rootOf({ id, parent }: Pick<Instance, 'id' | 'parent'>): string {
  return parent === null ? id : (parent.rootId ?? parent.workflowId);
}

/** Number of waits for sub-workflows that depend on the end of an instance with this link. */
export function waitsAbove(parent: ParentLink | null): number {
  return parent?.waiting ?? 0;
}

const FNV_OFFSET = 0x6c62272e07bb014262b821756295c58dn;
const FNV_PRIME = 0x0000000001000000000000000000013bn;

/** FNV-1a: pure, and wide enough, because root ids are random. */
function hash128(text: string): string {
  let hash = FNV_OFFSET;
  for (const letter of text) {
    hash = BigInt.asUintN(128, (hash ^ BigInt(letter.codePointAt(0) ?? 0)) * FNV_PRIME);
  }
  return hash.toString(16).padStart(32, '0');
}
