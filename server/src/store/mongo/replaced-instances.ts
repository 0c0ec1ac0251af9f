/** The open instances that a start with the conflict rule `terminate` replaces. */
import {
  TERMINATED_PER_INSERT,
  terminationOf,
  type InsertInstance,
  type InstanceSummary,
  type TerminationEntry,
} from '../records/instances.js';
import { encodeText } from '../text-codec.js';
import { controlUpdate } from './control.js';
import type { InstanceDocument } from './documents.js';
import { summaryOf } from './instance-documents.js';
import { WITHOUT_LONG_FIELDS } from './instance-lists.js';
import type { MongoContext } from './mongo-context.js';
import { openOf } from './named-instances.js';
import { removeWaitsOf } from './slot-waits.js';

type Replaced = Pick<InstanceDocument, '_id' | 'startTime'>;

export function idOf({ _id }: Replaced): string {
  return _id;
}

/** The open instances that the start terminates, and one more if there are too many. */
export async function replacedBy(
  context: MongoContext,
  { conflict, record }: InsertInstance,
): Promise<readonly Replaced[]> {
  const { definitionId, reference } = record;
  if (conflict?.action !== 'terminate' || reference === null) return [];
  const open = await openOf(context, { definitionId, reference })
    .project<Replaced>({ startTime: 1 })
    .limit(TERMINATED_PER_INSERT + 1)
    .toArray();
  return open.filter(({ _id }) => _id !== encodeText(record.id));
}

/** Adds to `terminated`. */
export async function terminateAll(
  context: MongoContext,
  { conflict }: InsertInstance,
  { ending, terminated }: { readonly ending: readonly Replaced[]; terminated: InstanceSummary[] },
): Promise<void> {
  if (conflict?.action !== 'terminate') return;
  for (const each of ending.slice(0, TERMINATED_PER_INSERT)) {
    const entry = terminationOf(conflict.audit, each);
    const ended = await terminate(context, each._id, entry);
    if (ended !== null) terminated.push(ended);
  }
}

/** Null: it has ended in between. */
async function terminate(
  context: MongoContext,
  _id: string,
  entry: TerminationEntry,
): Promise<InstanceSummary | null> {
  const [filter, update] = controlUpdate(_id, 'terminate', { at: entry.time, audit: entry });
  const ended = await context.instances.findOneAndUpdate(filter, update, {
    returnDocument: 'after',
    projection: WITHOUT_LONG_FIELDS,
  });
  if (ended === null) return null;
  await removeWaitsOf(context, ended);
  return summaryOf(ended);
}
