/** Marks a database that holds only part of a copy of another store. */
import type { Collections } from './collections.js';

const MARKER = { _id: 'unfinished-import' };

/** @throws Error, so that no server runs on part of a copy */
export async function refuseUnfinishedImport(collections: Collections): Promise<void> {
  if (!(await hasUnfinishedImport(collections))) return;
  throw new Error(
    'The database holds an unfinished copy of another store: run migrate-store again, or drop the database',
  );
}

export async function hasUnfinishedImport({
  markers,
}: Pick<Collections, 'markers'>): Promise<boolean> {
  return (await markers.findOne(MARKER)) !== null;
}

export async function markUnfinishedImport({
  markers,
}: Pick<Collections, 'markers'>): Promise<void> {
  await markers.updateOne(MARKER, { $set: { done: false } }, { upsert: true });
}

export async function unmarkImport({ markers }: Pick<Collections, 'markers'>): Promise<void> {
  await markers.deleteOne(MARKER);
}
