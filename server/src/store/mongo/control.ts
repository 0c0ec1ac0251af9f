/** Changes to an instance from outside its owner: control actions, tags, links, index fields, and the audit log in its document. */
import type { Filter, PushOperator, UpdateFilter } from 'mongodb';
import { TAGS_MAX } from '../../engine/values/tags.js';
import {
  NEXT_STATUS,
  type AuditEntry,
  type ControlAction,
  patchedTags,
} from '../records/control.js';
import { isLive } from '../records/instances.js';
import { messageBytes, type InboxMessage } from '../records/messages.js';
import type { OperationArguments, OperationResult } from '../store-operations.js';
import { StoreUnavailableError } from '../store.js';
import { encodeText } from '../text-codec.js';
import { makeDeferredAvailable } from './activity-queue.js';
import type { InstanceDocument } from './documents.js';
import { auditPush, auditEntryOf, instanceOf } from './instance-documents.js';
import { WITHOUT_KEPT, getInstance } from './instances.js';
import type { MongoContext } from './mongo-context.js';
import { packText } from './packed-text.js';
import { WITHOUT_SLOTS } from './slot-fields.js';
import { removeWaitsOf } from './slot-waits.js';
import { tagFieldsOf, valueFieldsOf } from './term-fields.js';

/** How often other writers may change an instance between our update and our check why it had no effect. */
const CONTROL_ATTEMPTS_MAX = 10;

interface ControlChange {
  readonly at: number;
  readonly audit?: AuditEntry | undefined;
  readonly message?: InboxMessage | undefined;
}

export async function controlInstance(
  context: MongoContext,
  [id, action, at, audit, message]: OperationArguments<'controlInstance'>,
): Promise<OperationResult<'controlInstance'>> {
  const { from, to } = NEXT_STATUS[action];
  const [filter, update] = controlUpdate(encodeText(id), action, { at, audit, message });
  for (let attempt = 0; attempt < CONTROL_ATTEMPTS_MAX; attempt += 1) {
    const changed = await context.instances.findOneAndUpdate(filter, update, {
      returnDocument: 'after',
      projection: WITHOUT_KEPT,
    });
    if (changed !== null) {
      if (to === 'Runnable') {
        await makeDeferredAvailable(context, { instanceId: encodeText(id) });
      }
      if (action === 'terminate') await removeWaitsOf(context, changed);
      return { outcome: 'done', record: instanceOf(changed) };
    }
    const record = await getInstance(context, [id]);
    if (record === null) return { outcome: 'missing' };
    const isTold = record.inbox.some((known) => known.id === message?.id);
    if (isTold || !from.includes(record.status)) return { outcome: 'refused', record };
  }
  throw new StoreUnavailableError(`The instance ${id} has too many concurrent writers`);
}

/** Matches the instance while the action is possible. */
export function controlUpdate(
  _id: string,
  action: ControlAction,
  { at, audit, message }: ControlChange,
): [Filter<InstanceDocument>, UpdateFilter<InstanceDocument>] {
  const { from, to } = NEXT_STATUS[action];
  const isEnd = action === 'terminate';
  return [
    { _id, status: { $in: [...from] }, ...notYetTold(message) },
    {
      $set: {
        status: to,
        wakeAt: 0,
        lastChangeAt: at,
        ...(isEnd ? { endTime: at, outcome: 'Terminated' } : { openChangedAt: at }),
      },
      ...(isEnd && {
        $unset: { openChangedAt: '', failureKey: '', failure: '', ...WITHOUT_SLOTS },
      }),
      ...pushing({ ...auditPush(audit), ...inboxPush(message) }),
      $inc: {
        inSeq: 1,
        ...(message !== undefined && { inboxBytes: messageBytes(message) }),
      },
    },
  ];
}

function notYetTold(message: InboxMessage | undefined): Filter<InstanceDocument> {
  return message === undefined ? {} : { 'inbox.id': { $ne: encodeText(message.id) } };
}

function inboxPush(message: InboxMessage | undefined): PushOperator<InstanceDocument> {
  if (message === undefined) return {};
  return { inbox: { id: encodeText(message.id), body: packText(message.body) } };
}

/** Older servers refuse a `$push` of nothing. */
function pushing(push: PushOperator<InstanceDocument>): UpdateFilter<InstanceDocument> {
  return Object.keys(push).length === 0 ? {} : { $push: push };
}

/** How often other writers may change the tags of an instance between our read and our update. */
const ATTEMPTS_MAX = 10;

export async function patchTags(
  context: MongoContext,
  [id, changes, audit]: OperationArguments<'patchTags'>,
): Promise<OperationResult<'patchTags'>> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const record = await getInstance(context, [id]);
    if (record === null) return { outcome: 'missing' };
    const tags = patchedTags(record.tags, changes);
    if (Object.keys(tags).length > TAGS_MAX) return { outcome: 'too-many', record };
    const { set, unset } = tagFieldsOf(tags);
    const before = tagFieldsOf(record.tags).set.tags ?? { $exists: false };
    const changed = await context.instances.findOneAndUpdate(
      { _id: encodeText(id), tags: before },
      {
        ...(Object.keys(set).length > 0 && { $set: set }),
        ...(Object.keys(unset).length > 0 && { $unset: unset }),
        $push: auditPush(audit),
        $inc: { inSeq: 1 },
      },
      { returnDocument: 'after', projection: WITHOUT_KEPT },
    );
    if (changed !== null) return { outcome: 'done', record: instanceOf(changed) };
  }
  throw new StoreUnavailableError(`The tags of instance ${id} have too many concurrent writers`);
}

/** The owner's next commit reads the new priority, so items that it offers have it. Those that exist follow. */
export async function setPriority(
  context: MongoContext,
  [id, priority, audit]: OperationArguments<'setPriority'>,
): Promise<OperationResult<'setPriority'>> {
  const _id = encodeText(id);
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const changed = await context.instances.findOneAndUpdate(
      { _id, status: { $in: ['Runnable', 'Suspended'] } },
      { $set: { priority }, $push: auditPush(audit), $inc: { inSeq: 1 } },
      { returnDocument: 'after', projection: WITHOUT_KEPT },
    );
    if (changed !== null) {
      await context.activities.updateMany({ instanceId: _id, done: false }, { $set: { priority } });
      if (changed.mayWait === true) {
        await context.slotWaits.updateMany({ instanceId: _id }, { $set: { priority } });
      }
      return { outcome: 'done', record: instanceOf(changed) };
    }
    const record = await getInstance(context, [id]);
    if (record === null) return { outcome: 'missing' };
    if (!isLive(record.status)) return { outcome: 'refused', record };
  }
  throw new StoreUnavailableError(`The instance ${id} has too many concurrent writers`);
}

export async function linkRestart(
  { instances }: MongoContext,
  [id, restartedAs, audit]: OperationArguments<'linkRestart'>,
): Promise<boolean> {
  const change = {
    $set: { restartedAs: encodeText(restartedAs) },
    $push: auditPush(audit),
    $inc: { inSeq: 1 },
  };
  const _id = encodeText(id);
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const ended = { _id, endTime: { $ne: null } };
    const $unset = { failureKey: '', failure: '' } as const;
    if ((await instances.updateOne(ended, { ...change, $unset })).matchedCount > 0) return true;
    const open = { _id, endTime: null };
    if ((await instances.updateOne(open, change)).matchedCount > 0) return true;
    if ((await instances.findOne({ _id }, { projection: { _id: 1 } })) === null) return false;
  }
  throw new StoreUnavailableError(`The end of instance ${id} has too many concurrent writers`);
}

export async function replaceIndex(
  { instances }: MongoContext,
  [{ id, inSeq, revision }, change]: OperationArguments<'replaceIndex'>,
): Promise<boolean> {
  const { set, unset } = valueFieldsOf(change.after);
  const { matchedCount } = await instances.updateOne(
    { _id: encodeText(id), inSeq, revision },
    {
      ...(Object.keys(set).length > 0 && { $set: set }),
      ...(Object.keys(unset).length > 0 && { $unset: unset }),
      $inc: { inSeq: 1 },
    },
  );
  return matchedCount > 0;
}

export async function appendAudit(
  { instances }: MongoContext,
  [instanceId, entry]: OperationArguments<'appendAudit'>,
): Promise<boolean> {
  const update = { $push: auditPush(entry) };
  const { matchedCount } = await instances.updateOne({ _id: encodeText(instanceId) }, update);
  return matchedCount > 0;
}

export async function listAudit(
  { instances }: MongoContext,
  [instanceId]: OperationArguments<'listAudit'>,
): Promise<readonly AuditEntry[] | null> {
  const found = await instances.findOne(
    { _id: encodeText(instanceId) },
    { projection: { audit: 1 } },
  );
  if (found === null) return null;
  return (found.audit ?? []).toReversed().map(auditEntryOf);
}
