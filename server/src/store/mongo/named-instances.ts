/** Instances of a definition that have the same reference. */
import type { Filter, FindCursor } from 'mongodb';
import { encodeText } from '../text-codec.js';
import type { InstanceDocument } from './documents.js';
import type { MongoContext } from './mongo-context.js';

interface NamedInstances {
  readonly definitionId: string;
  readonly reference: string;
}

/** Newest first. */
export function openOf(
  { instances }: Pick<MongoContext, 'instances'>,
  of: NamedInstances,
): FindCursor<InstanceDocument> {
  return instances
    .find({
      ...namedBy(of),
      // The index contains only open instances.
      openChangedAt: { $exists: true },
      status: { $in: ['Runnable', 'Suspended'] },
    })
    .sort({ startTime: -1, _id: -1 });
}

/** Newest first; open and ended ones. */
export function keptOf(
  { instances }: Pick<MongoContext, 'instances'>,
  of: NamedInstances,
): FindCursor<InstanceDocument> {
  return instances.find({ ...namedBy(of), revision: { $gte: 0 } }).sort({ startTime: -1, _id: -1 });
}

function namedBy({ definitionId, reference }: NamedInstances): Filter<InstanceDocument> {
  return { reference: encodeText(reference), definitionId: encodeText(definitionId) };
}
