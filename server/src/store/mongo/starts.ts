/** Starts of instances: what they are refused for, and what they keep. */
import type { OperationArguments, OperationResult } from '../operations.js';
import {
  TERMINATED_PER_INSERT,
  type InsertInstance,
  type InstanceRecord,
  type InstanceSummary,
} from '../records/instances.js';
import { referenceKeyOf } from '../reference-turns.js';
import { StoreUnavailableError } from '../store.js';
import { decodeText, encodeText } from '../text-codec.js';
import type { InstanceDocument } from './collections.js';
import { instanceDocumentOf, instanceOf, isLongInput, summaryOf } from './instance-documents.js';
import { WITHOUT_LONG_FIELDS } from './instance-lists.js';
import { controlInstance, getInstance, WITHOUT_KEPT } from './instances.js';
import type { MongoContext } from './mongo-context.js';
import { isDuplicateKey } from './mongo-errors.js';
import { packText, unpackText } from './packed-text.js';
import { claimAndInsert, readClaim } from './reference-claims.js';
import { attemptOf, insertSideRecords, takeBack, takeBackClaims } from './side-records.js';

type Result = OperationResult<'insertInstance'>;

interface OpenReference {
  readonly definitionId: string;
  readonly reference: string;
}

/** How often starts on other nodes may be faster before this one gives up. */
const ATTEMPTS_MAX = 100;

export async function insertInstance(
  context: MongoContext,
  [insert]: OperationArguments<'insertInstance'>,
): Promise<Result> {
  if (insert.conflict === undefined) return insertFreely(context, insert);
  return context.referenceTurns.take(referenceKeyOf(insert.record), () =>
    insertByRule(context, insert),
  );
}

export async function getInput(
  { inputs, instances }: MongoContext,
  [id]: OperationArguments<'getInput'>,
): Promise<string | null> {
  const _id = encodeText(id);
  const document = await instances.findOne({ _id }, { projection: { input: 1 } });
  if (document === null) return null;
  if (document.input !== undefined) return unpackText(document.input);
  const long = await inputs.findOne({ _id });
  return long === null ? null : unpackText(long.body);
}

async function findOpenInstance(
  context: MongoContext,
  { definitionId, reference }: OpenReference,
): Promise<InstanceRecord | null> {
  const [newest] = await findOpen(context, { definitionId, reference, limit: 1 });
  return newest === undefined ? null : instanceOf(newest);
}

/** Without a conflict rule. */
async function insertFreely(context: MongoContext, insert: InsertInstance): Promise<Result> {
  const { openDescendantsMax, record } = insert;
  if (await context.disabledDefinitions.has(record.definitionId)) {
    return (await existing(context, record)) ?? { outcome: 'disabled' };
  }
  if (record.rootId === null || openDescendantsMax === undefined) {
    return insertUncounted(context, insert);
  }
  const inserted = await context.countedInserts.insert(record.rootId, openDescendantsMax, () =>
    insertUncounted(context, insert),
  );
  return inserted ?? (await existing(context, record)) ?? { outcome: 'full' };
}

async function insertUncounted(context: MongoContext, insert: InsertInstance): Promise<Result> {
  const { record, side } = insert;
  const hasSide = side.history.length + side.subscriptions.length + side.activities.length > 0;
  if (hasSide && record.requestHash !== null) {
    // A repeated start must not bring back side records that the instance has already removed.
    const known = await existing(context, record);
    if (known !== null) return known;
  }
  const attempt = attemptOf(record);
  await insertSideRecords(context, side, { ...attempt, replaces: false });
  const document = await documentOf(context, insert);
  const duplicates = await context.groupedWrites.instances.insert([document]);
  if (duplicates.size === 0) return { outcome: 'inserted' };
  await takeBackClaims(context, side.activities);
  const known = await existing(context, record);
  if (known === null) {
    throw new StoreUnavailableError(`The instance ${record.id} was removed while it was inserted`);
  }
  return known;
}

/** The instance with its input; a long input is inserted before it. */
async function documentOf(
  { inputs }: MongoContext,
  { input, record }: InsertInstance,
): Promise<InstanceDocument> {
  const document = instanceDocumentOf(record);
  if (input === undefined) return document;
  if (!isLongInput(input)) return { ...document, input: packText(input) };
  try {
    await inputs.insertOne({ _id: document._id, body: packText(input) });
  } catch (error) {
    // The start is repeated, with the same input.
    if (!isDuplicateKey(error)) throw error;
  }
  return document;
}

async function insertByRule(context: MongoContext, insert: InsertInstance): Promise<Result> {
  const { record } = insert;
  const key = encodeText(referenceKeyOf(record));
  const terminated: InstanceSummary[] = [];
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    // First: whatever others do after this read makes the claim fail.
    const token = await readClaim(context, key);
    const refused = (await existing(context, record)) ?? (await refusedAlways(context, insert));
    if (refused !== null) return refused;
    const inUse = await refusedNow(context, insert);
    if (inUse !== null) return inUse;
    const outcome = await counted(context, insert, () =>
      insertByClaim(context, insert, { key, token, terminated }),
    );
    if (outcome === 'full') return { outcome };
    if (outcome === 'lost') continue;
    if (outcome === 'more') return { outcome, terminated };
    return insert.conflict?.action === 'terminate' ? { outcome, terminated } : { outcome };
  }
  throw new StoreUnavailableError(`Too many concurrent starts with the reference of ${record.id}`);
}

async function counted<Outcome>(
  { countedInserts }: MongoContext,
  { openDescendantsMax, record }: InsertInstance,
  insert: () => Promise<Outcome>,
): Promise<Outcome | 'full'> {
  if (record.rootId === null || openDescendantsMax === undefined) return insert();
  return (await countedInserts.insert(record.rootId, openDescendantsMax, insert)) ?? 'full';
}

/** `lost`: a start on another node was faster. */
async function insertByClaim(
  context: MongoContext,
  insert: InsertInstance,
  claim: {
    readonly key: string;
    readonly token: string | null;
    readonly terminated: InstanceSummary[];
  },
): Promise<'inserted' | 'lost' | 'more'> {
  const { record, side } = insert;
  if (await terminateOpen(context, insert, claim.terminated)) return 'more';
  const inserted = await insertSideRecords(context, side, {
    ...attemptOf(record),
    replaces: false,
  });
  const document = await documentOf(context, insert);
  const at = record.lastChangeAt;
  if (await claimAndInsert(context, { ...claim, at }, document)) return 'inserted';
  await takeBack(context, inserted, side);
  return 'lost';
}

async function existing(
  context: MongoContext,
  { id }: InstanceRecord,
): Promise<Extract<Result, { outcome: 'exists' }> | null> {
  const record = await getInstance(context, [id]);
  return record === null ? null : { outcome: 'exists', record };
}

async function refusedAlways(
  context: MongoContext,
  { conflict, record }: InsertInstance,
): Promise<Result | null> {
  if (conflict !== undefined && record.requestHash !== null) {
    const known = await context.joinedStarts.findOne({ _id: encodeText(record.id) });
    const joined =
      known === null ? null : await getInstance(context, [decodeText(known.instanceId)]);
    if (known !== null && joined !== null) {
      return { outcome: 'joined', record: joined, requestHash: decodeText(known.requestHash) };
    }
  }
  const isDisabled = await context.disabledDefinitions.has(record.definitionId);
  return isDisabled ? { outcome: 'disabled' } : null;
}

async function refusedNow(
  context: MongoContext,
  { conflict, record }: InsertInstance,
): Promise<Result | null> {
  const { definitionId, id, reference, requestHash } = record;
  if (conflict?.action === 'terminate' || reference === null) return null;
  const newest = await findOpenInstance(context, { definitionId, reference });
  if (newest === null) return null;
  // The same start was repeated on another node, and has inserted the instance meanwhile.
  if (newest.id === id) return { outcome: 'exists', record: newest };
  if (conflict?.action === 'join' && requestHash !== null) {
    const stamp = { requestHash: encodeText(requestHash), instanceId: encodeText(newest.id) };
    await context.joinedStarts.updateOne(
      { _id: encodeText(id) },
      { $set: stamp },
      { upsert: true },
    );
  }
  return { outcome: 'in-use', record: newest };
}

/** Adds to `terminated`. Returns true if there are more. */
async function terminateOpen(
  context: MongoContext,
  { conflict, record }: InsertInstance,
  terminated: InstanceSummary[],
): Promise<boolean> {
  const { definitionId, reference } = record;
  if (conflict?.action !== 'terminate' || reference === null) return false;
  const limit = TERMINATED_PER_INSERT + 1;
  const open = await findOpen(context, { definitionId, reference, limit });
  const others = open.filter(({ _id }) => _id !== encodeText(record.id));
  for (const { _id } of others.slice(0, TERMINATED_PER_INSERT)) {
    const { audit } = conflict;
    const id = decodeText(_id);
    const result = await controlInstance(context, [id, 'terminate', audit.time, audit]);
    if (result.outcome !== 'done') continue;
    const summary = await context.instances.findOne({ _id }, { projection: WITHOUT_LONG_FIELDS });
    if (summary !== null) terminated.push(summaryOf(summary));
  }
  return others.length > TERMINATED_PER_INSERT;
}

/** Newest first. */
function findOpen(
  { instances }: MongoContext,
  of: { readonly definitionId: string; readonly reference: string; readonly limit: number },
): Promise<InstanceDocument[]> {
  return instances
    .find(
      {
        reference: encodeText(of.reference),
        definitionId: encodeText(of.definitionId),
        // The index contains only open instances.
        openChangedAt: { $exists: true },
        status: { $in: ['Runnable', 'Suspended'] },
      },
      { projection: WITHOUT_KEPT },
    )
    .sort({ startTime: -1, _id: -1 })
    .limit(of.limit)
    .toArray();
}
