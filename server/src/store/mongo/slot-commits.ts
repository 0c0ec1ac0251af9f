/** Commits that take, wait for or free slots, or offer items that need some: see slot-keys.ts. */
import { DEFAULT_PRIORITY } from '../../engine/model/start-options.js';
import { isLive, type CommitOutcome, type InstanceCommit } from '../records/instances.js';
import { StoreUnavailableError } from '../store.js';
import { encodeText } from '../text-codec.js';
import type { InstanceDocument, Provenance } from './documents.js';
import { FAIRNESS_FIELDS, sameFairness } from './fairness-fields.js';
import type { GuardedUpdate } from './grouped-commits.js';
import { afterCommit, guardedUpdateOf } from './commit-updates.js';
import { inputChangeOf } from './inputs.js';
import type { MongoContext } from './mongo-context.js';
import { attemptOf, insertSideRecords, takeBack } from './side-records.js';
import { changedFields, endedWaits, prepareChanges, type PreparedChanges } from './slot-changes.js';
import { SLOT_FIELDS, slotFieldsOf, type SlotFields } from './slot-fields.js';
import { DECIDING } from './deciding.js';
import { restoreKeys } from './slot-keys.js';
import { distinctKeys } from './slot-names.js';
import { removeWaits, removeWaitsOf, waitedAmong } from './slot-waits.js';

/** How many grants may change the slots of an instance while it commits. */
const ATTEMPTS_MAX = 100;

type Known = Pick<
  InstanceDocument,
  | '_id'
  | 'epoch'
  | 'inSeq'
  | 'revision'
  | 'priority'
  | 'fairnessKey'
  | 'fairnessWeight'
  | 'status'
  | 'mayWait'
> &
  SlotFields;

export async function commitWithSlots(
  context: MongoContext,
  commit: InstanceCommit,
): Promise<CommitOutcome> {
  const known = await readKnown(context, commit);
  if (known === null) return 'lost';
  const { epoch, inSeq, revision } = commit;
  const guard = { epoch, inSeq, revision };
  const attempt = attemptOf(commit);
  const prepared = await prepareChanges(context, {
    instanceId: known._id,
    priority: known.priority ?? DEFAULT_PRIORITY,
    ...sameFairness(known),
    now: commit.lastChangeAt,
    slots: commit.slots,
    side: commit.side,
    known,
    guard,
    taker: { commit: guard },
    isRunnable: commit.status === 'Runnable',
  });
  if ('refused' in prepared) return { outcome: 'refused', refused: prepared.refused };
  const inserted = await insertSideRecords(
    context,
    commit.side,
    { ...attempt, replaces: true },
    prepared.items,
  );
  const changed = await write(context, commit, { attempt, known, prepared });
  if (changed === 'lost') {
    await takeBack(context, inserted, commit.side);
    await restoreKeys(context, prepared.replaced);
    await removeWaits(context, prepared.waits);
    return 'lost';
  }
  await afterCommit(context, commit);
  await forgetWaits(context, commit, { ...changed, known });
  const freed = commit.slots?.free.flatMap(({ needs }) => needs) ?? [];
  const freedKeys = await waitedAmong(context, freed);
  const waits = distinctKeys([...prepared.limitedBy, ...freedKeys]);
  return commit.slots === undefined && waits.length === 0
    ? 'committed'
    : { outcome: 'committed', waits };
}

async function readKnown(context: MongoContext, commit: InstanceCommit): Promise<Known | null> {
  const { epoch, inSeq, revision } = commit;
  return context.instances.findOne<Known>(
    { _id: encodeText(commit.id), epoch, inSeq, revision },
    {
      ...DECIDING,
      projection: {
        epoch: 1,
        inSeq: 1,
        revision: 1,
        priority: 1,
        ...FAIRNESS_FIELDS,
        status: 1,
        mayWait: 1,
        ...SLOT_FIELDS,
      },
    },
  );
}

interface Writing {
  readonly attempt: Provenance;
  readonly known: Known;
  readonly prepared: PreparedChanges;
}

type WrittenFields = Partial<ReturnType<typeof slotFieldsOf>> & {
  readonly guard?: Pick<GuardedUpdate, 'slotRevision'>;
};

interface Change {
  readonly before: SlotFields;
  readonly after: SlotFields;
}

/** A grant in between changes only the slots: then the same commit is made with what it has left. */
async function write(
  context: MongoContext,
  commit: InstanceCommit,
  { attempt, known, prepared }: Writing,
): Promise<Change | 'lost'> {
  const update = guardedUpdateOf(commit, attempt, await inputChangeOf(context, commit));
  const mayWait = prepared.waits.length + prepared.items.size > 0;
  let before: SlotFields | null = known;
  for (let round = 0; round < ATTEMPTS_MAX; round += 1) {
    if (before === null) return 'lost';
    const { after, fields } = changeOf(commit, before, prepared);
    const isCommitted = await context.groupedWrites.commits.commit({
      ...update,
      ...fields.guard,
      set: { ...update.set, ...fields.set, ...(mayWait && { mayWait: true as const }) },
      unset: { ...update.unset, ...fields.unset },
    });
    if (isCommitted) return { before, after };
    before = await readKnown(context, commit);
  }
  throw new StoreUnavailableError(`The slots of instance ${commit.id} have too many other writers`);
}

/** The end of an instance leaves nothing, whatever it had. */
function changeOf(
  { slots, status }: InstanceCommit,
  before: SlotFields,
  { waits }: PreparedChanges,
): { readonly after: SlotFields; readonly fields: WrittenFields } {
  if (!isLive(status)) return { after: {}, fields: {} };
  if (slots === undefined) return { after: before, fields: {} };
  const after = changedFields(before, slots, waits);
  const guard = { slotRevision: before.slotRevision ?? null };
  return { after, fields: { guard, ...slotFieldsOf(after) } };
}

async function forgetWaits(
  context: MongoContext,
  { status }: InstanceCommit,
  { after, before, known }: Change & { readonly known: Known },
): Promise<void> {
  if (isLive(status)) await removeWaits(context, endedWaits(before, after));
  else await removeWaitsOf(context, known);
}
