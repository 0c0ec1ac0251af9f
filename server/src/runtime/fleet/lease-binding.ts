/** Whether all nodes of the fleet know work tokens whose lease is bound: a node of an earlier version rejects them. */
import type { NodeRecord } from '../../store/records/nodes.js';
import { readBindsLeases } from './node-details.js';

/** Asked for each claim, so each record is read once. */
export function leaseBinding(others: () => readonly NodeRecord[]): () => boolean {
  const known = new WeakMap<NodeRecord, boolean>();
  const binds = (node: NodeRecord): boolean => {
    const found = known.get(node) ?? readBindsLeases(node.details);
    known.set(node, found);
    return found;
  };
  return () => others().every(binds);
}
