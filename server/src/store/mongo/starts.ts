/** Inserts new instances: when a start is rejected, and what is stored with it. */
import { joinedStartOf, recordIn, windowStartOf, type JoinedStart } from '../joined-starts.js';
import {
  queueRefusal,
  referenceKeyOf,
  TERMINATED_PER_INSERT,
  type InsertInstance,
  type InstanceRecord,
  type InstanceSummary,
} from '../records/instances.js';
import { placesKeyOf } from '../records/places.js';
import { windowKeyOf } from '../records/windows.js';
import type { OperationArguments, OperationResult } from '../store-operations.js';
import { FAR_FUTURE_MS, StoreUnavailableError } from '../store.js';
import { decodeText, encodeText } from '../text-codec.js';
import type { InstanceDocument } from './documents.js';
import { takeBackInput, withInput, type InputContext, inputIdOf } from './inputs.js';
import { instanceOf, summaryOf, joinedStartDocumentOf } from './instance-documents.js';
import { getSummaries, WITHOUT_LONG_FIELDS } from './instance-lists.js';
import { getInstance, WITHOUT_KEPT } from './instances.js';
import type { MongoContext } from './mongo-context.js';
import { isDuplicateKey } from './mongo-errors.js';
import { unpackText } from './packed-text.js';
import { refusalByPlaces } from './places.js';
import { keptOf, openOf } from './named-instances.js';
import { lastInQueue } from './queues.js';
import { claimAndInsert, noteEntry, readClaim } from './reference-claims.js';
import { idOf, replacedBy, terminateAll } from './replaced-instances.js';
import { attemptOf, insertSideRecords, takeBack, takeBackClaims } from './side-records.js';
import { hasSlotChanges } from './slot-changes.js';
import { decideStart, forgetStart } from './slot-starts.js';
import { NO_SLOTS, slotsOfStart, takeBackSlots, type StartSlots } from './start-slots.js';

type Result = OperationResult<'insertInstance'>;
type InsertedOrNot = Extract<Result, { outcome: 'inserted' | 'no-slots' }>;

/**
 * How far ahead of the clock of a start an instance may count that has entered the queue, because the clocks of nodes differ, and a
 * start takes a while.
 */
const ENTERED_AHEAD_MS = 60_000;

/** How often starts on other nodes may be faster before this one gives up. */
const ATTEMPTS_MAX = 100;

export async function insertInstance(
  context: MongoContext,
  [insert]: OperationArguments<'insertInstance'>,
): Promise<Result> {
  const keys = claimKeysOf(insert);
  if (keys === null) return insertFreely(context, insert);
  const [first, second] = keys;
  const { references } = context;
  const work = (): Promise<Result> => insertByRules(context, insert, keys);
  // Those of this process with the same keys run one after another. All take the keys in this order.
  return references.run(second ?? first, () =>
    second === undefined ? work() : references.run(first, work),
  );
}

/** The claims that a start replaces: the one of its window or its places first. Null: it has no rules. */
function claimKeysOf({
  conflict,
  places,
  record,
  window,
}: InsertInstance): readonly [string, string?] | null {
  const { concurrencyKey, definitionId } = record;
  const reference = conflict === undefined ? null : encodeText(referenceKeyOf(record));
  if (window !== undefined) {
    // It asks for a place later.
    const key = encodeText(windowKeyOf(record, window));
    return reference === null ? [key] : [key, reference];
  }
  if (places === undefined || concurrencyKey === null)
    return reference === null ? null : [reference];
  const key = encodeText(placesKeyOf({ definitionId, key: concurrencyKey }));
  return reference === null ? [key] : [key, reference];
}

/** Without rules. */
async function insertFreely(context: MongoContext, insert: InsertInstance): Promise<Result> {
  const { openDescendantsMax, record } = insert;
  if (await context.disabledDefinitions.has(record.definitionId)) {
    return (await known(context, record)) ?? { outcome: 'disabled' };
  }
  if (record.rootId === null || openDescendantsMax === undefined) {
    return insertUncounted(context, insert);
  }
  const inserted = await context.countedInserts.insert(record.rootId, openDescendantsMax, () =>
    insertUncounted(context, insert),
  );
  return inserted ?? (await known(context, record)) ?? { outcome: 'full' };
}

async function insertUncounted(context: MongoContext, insert: InsertInstance): Promise<Result> {
  const { record, side } = insert;
  const hasSide = side.history.length + side.subscriptions.length + side.activities.length > 0;
  const hasSlots = hasSlotChanges(insert.slots, side);
  if (record.requestHash !== null || hasSlots) {
    // A repeated start must not bring back side records that the instance has already removed.
    const needsLook = hasSide || hasSlots;
    const earlier = needsLook ? await known(context, record) : await joinedBefore(context, record);
    if (earlier !== null) return earlier;
  }
  if (hasSlots) return insertWithSlots(context, insert);
  await insertSideRecords(context, side, { ...attemptOf(record), replaces: false });
  const document = await withInput(context, insert);
  return (await insertDocument(context, insert, document)) ?? { outcome: 'inserted' };
}

/** Null: it is inserted. */
async function insertDocument(
  context: MongoContext,
  { record, side }: InsertInstance,
  document: InstanceDocument,
): Promise<Result | null> {
  const duplicates = await context.groupedWrites.instances.insert([document]);
  if (duplicates.size === 0) return null;
  await takeBackClaims(context, side.activities);
  await takeBackInput(context, document);
  const repeated = await existing(context, record);
  if (repeated === null) {
    throw new StoreUnavailableError(`The instance ${record.id} was removed while it was inserted`);
  }
  return repeated;
}

async function insertWithSlots(context: MongoContext, insert: InsertInstance): Promise<Result> {
  const { record, side } = insert;
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const slots = await slotsOfStart(context, insert);
    if ('refused' in slots) return { outcome: 'no-slots', refused: slots.refused };
    const inserted = await insertSideRecords(
      context,
      side,
      { ...attemptOf(record), replaces: false },
      slots.items,
    );
    const document = { ...(await withInput(context, insert)), ...slots.fields };
    if (await decideStart(context, document)) {
      const other = await insertDocument(context, insert, document);
      await forgetStart(context, document);
      // Whoever has finished this attempt was faster.
      const isMine = other === null || (await isInsertedBy(context, document));
      if (isMine) return insertedWith(slots);
      await takeBackSlots(context, slots);
      return other;
    }
    await takeBack(context, inserted, side);
    await takeBackInput(context, document);
    await takeBackSlots(context, slots);
  }
  throw new StoreUnavailableError(`The slots of instance ${record.id} were given up too often`);
}

function insertedWith({ limitedBy }: StartSlots): Extract<Result, { outcome: 'inserted' }> {
  return { outcome: 'inserted', ...(limitedBy.length > 0 && { waits: limitedBy }) };
}

async function isInsertedBy(
  { instances }: MongoContext,
  { _id, slotAttempt }: InstanceDocument,
): Promise<boolean> {
  if (slotAttempt === undefined) return false;
  return (await instances.findOne({ _id, slotAttempt }, { projection: { _id: 1 } })) !== null;
}

async function insertByRules(
  context: MongoContext,
  insert: InsertInstance,
  [first, second]: readonly [string, string?],
): Promise<Result> {
  const { record } = insert;
  const terminated: InstanceSummary[] = [];
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    // First: whatever others do after this read makes the claim fail.
    const claim = await readClaim(context, first);
    const claims =
      second === undefined
        ? ([claim] as const)
        : ([claim, await readClaim(context, second)] as const);
    const refused = (await known(context, record)) ?? (await disabled(context, record));
    if (refused !== null) return refused;
    const joined = await joinedWindow(context, insert);
    if (joined !== null) return joined;
    const inUse = (await refusedNow(context, insert)) ?? (await refusalByPlaces(context, insert));
    if (inUse !== null) return inUse;
    const outcome = await counted(context, insert, () =>
      insertByClaim(context, insert, { claims, terminated }),
    );
    if (outcome === 'full') return { outcome };
    if (outcome === 'lost') continue;
    if (outcome === 'more') return { outcome, terminated };
    if (outcome.outcome !== 'inserted') return outcome;
    return insert.conflict?.action === 'terminate' ? { ...outcome, terminated } : outcome;
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
  {
    claims,
    terminated,
  }: {
    readonly claims: Parameters<typeof claimAndInsert>[1];
    readonly terminated: InstanceSummary[];
  },
): Promise<InsertedOrNot | 'lost' | 'more'> {
  const { record, side } = insert;
  const ending = await replacedBy(context, insert);
  const isMore = ending.length > TERMINATED_PER_INSERT;
  // What can't have its slots terminates nothing.
  const slots = isMore ? NO_SLOTS : await slotsOfStart(context, insert, ending.map(idOf));
  if ('refused' in slots) return { outcome: 'no-slots', refused: slots.refused };
  await terminateAll(context, insert, { ending, terminated });
  if (isMore) return 'more';
  const attempt = { ...attemptOf(record), replaces: false };
  const inserted = await insertSideRecords(context, side, attempt, slots.items);
  const instance = { ...(await withInput(context, insert)), ...slots.fields };
  const at = record.lastChangeAt;
  if (await claimAndInsert(context, claims, { at, instance })) return insertedWith(slots);
  await takeBack(context, inserted, side);
  await takeBackInput(context, instance);
  await takeBackSlots(context, slots);
  return 'lost';
}

async function existing(
  context: MongoContext,
  { id }: InstanceRecord,
): Promise<Extract<Result, { outcome: 'exists' }> | null> {
  const record = await getInstance(context, [id]);
  return record === null ? null : { outcome: 'exists', record };
}

/** What an earlier insert with this id has done. */
async function known(context: MongoContext, record: InstanceRecord): Promise<Result | null> {
  return (await existing(context, record)) ?? joinedBefore(context, record);
}

async function joinedBefore(
  context: MongoContext,
  { id, requestHash }: InstanceRecord,
): Promise<Result | null> {
  if (requestHash === null) return null;
  const start = await context.joinedStarts.findOne({ _id: encodeText(id) });
  if (start === null) return null;
  const record =
    start.body === undefined
      ? await getInstance(context, [decodeText(start.instanceId)])
      : recordIn(unpackText(start.body));
  if (record === null) return null;
  return {
    outcome: 'joined-before',
    record,
    requestHash: decodeText(start.requestHash),
    ...(start.body === undefined && { byWindow: true as const }),
  };
}

async function disabled(
  { disabledDefinitions }: MongoContext,
  { definitionId }: InstanceRecord,
): Promise<Result | null> {
  return (await disabledDefinitions.has(definitionId)) ? { outcome: 'disabled' } : null;
}

async function joinedWindow(
  context: MongoContext,
  { record, window }: InsertInstance,
): Promise<Result | null> {
  const { definitionId, id } = record;
  if (window === undefined) return null;
  const open = await context.instances.findOne(
    {
      definitionId: encodeText(definitionId),
      debounceKey: encodeText(window),
      openChangedAt: { $exists: true },
      status: { $in: ['Runnable', 'Suspended'] },
    },
    { projection: { _id: 1 } },
  );
  if (open === null) return null;
  const instanceId = decodeText(open._id);
  // The same start was repeated on another node, and has opened the window in between.
  if (instanceId === id) return existing(context, record);
  const kept = windowStartOf(record, instanceId);
  const earlier = kept === null ? null : await insertJoinedStart(context, kept, record);
  return earlier ?? { outcome: 'window', instanceId };
}

export async function forgetJoinedStart(
  { joinedStarts }: MongoContext,
  [id, instanceId]: OperationArguments<'forgetJoinedStart'>,
): Promise<void> {
  await joinedStarts.deleteOne({ _id: encodeText(id), instanceId: encodeText(instanceId) });
}

async function refusedNow(
  context: MongoContext,
  { conflict, record }: InsertInstance,
): Promise<Result | null> {
  const { definitionId, id, reference } = record;
  if (conflict === undefined || conflict.action === 'terminate' || reference === null) return null;
  if (conflict.action === 'queue') {
    const last = await lastCounting(context, { ...record, reference });
    return queueRefusal(conflict, record, last);
  }
  const find = conflict.scope === 'kept' ? keptOf : openOf;
  const [newest] = await find(context, { definitionId, reference })
    .project<InstanceDocument>(conflict.action === 'refuse' ? WITHOUT_LONG_FIELDS : WITHOUT_KEPT)
    .limit(1)
    .toArray();
  if (newest === undefined) return null;
  // The same start was repeated on another node, and has inserted the instance in between.
  if (newest._id === encodeText(id)) return existing(context, record);
  if (conflict.action === 'refuse') return { outcome: 'in-use', record: summaryOf(newest) };
  const joined = instanceOf(newest);
  const kept = joinedStartOf(record, joined);
  const earlier = kept === null ? null : await insertJoinedStart(context, kept, record);
  return earlier ?? { outcome: 'joined', record: joined };
}

/** The last instance in the queue that counts for this start. */
async function lastCounting(
  context: MongoContext,
  { definitionId, reference, startTime }: InstanceRecord & { readonly reference: string },
): Promise<InstanceSummary | null> {
  const queue = { definitionId, reference };
  const id = await lastInQueue(context, queue, {
    started: { at: FAR_FUTURE_MS, id: '' },
    later: { at: startTime + ENTERED_AHEAD_MS, id: '' },
    dueBy: startTime,
  });
  const [summary] = id === null ? [] : await getSummaries(context, [[id]]);
  return summary ?? null;
}

/** Returns the result of another start with the same key, if it was faster. */
async function insertJoinedStart(
  context: MongoContext,
  start: JoinedStart,
  record: InstanceRecord,
): Promise<Result | null> {
  const { joinedStarts } = context;
  const document = joinedStartDocumentOf(start);
  const { _id, requestHash } = document;
  try {
    await joinedStarts.insertOne(document);
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
    const earlier = await joinedBefore(context, record);
    if (earlier !== null) return earlier;
    // The instance that it joined is gone.
    await joinedStarts.replaceOne({ _id }, document, { upsert: true });
  }
  // An insert looks for joined starts before it inserts; this looks the other way round.
  const inserted = await existing(context, record);
  if (inserted !== null) await joinedStarts.deleteOne({ _id, requestHash });
  return inserted;
}

export async function findPredecessor(
  context: MongoContext,
  [{ at, id, ...queue }]: OperationArguments<'findPredecessor'>,
): Promise<OperationResult<'findPredecessor'>> {
  await noteEntry(context, encodeText(referenceKeyOf(queue)), { at, instanceId: encodeText(id) });
  return lastInQueue(context, queue, { started: { at, id }, later: { at, id } });
}

export async function getInput(
  { inputs, instances }: InputContext,
  [id]: OperationArguments<'getInput'>,
): Promise<string | null> {
  const _id = encodeText(id);
  const document = await instances.findOne({ _id }, { projection: { input: 1, inputId: 1 } });
  if (document === null) return null;
  if (document.input !== undefined) return unpackText(document.input);
  const long = await inputs.findOne({ _id: inputIdOf(document) });
  return long === null ? null : unpackText(long.body);
}
