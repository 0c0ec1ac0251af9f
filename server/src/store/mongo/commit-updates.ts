/** What a commit writes into its instance, and after that. */
import { isLive, type InstanceCommit } from '../records/instances.js';
import { encodeText } from '../text-codec.js';
import type { InstanceDocument, Provenance } from './documents.js';
import type { GuardedUpdate } from './grouped-commits.js';
import type { inputChangeOf } from './inputs.js';
import { changeFieldsOf } from './instance-documents.js';
import type { MongoContext } from './mongo-context.js';
import { packText } from './packed-text.js';
import { removeActivities } from './side-records.js';
import { WITHOUT_SLOTS } from './slot-fields.js';
import { valueFieldsOf } from './term-fields.js';

export function guardedUpdateOf(
  commit: InstanceCommit,
  { attemptId }: Pick<Provenance, 'attemptId'>,
  input: Awaited<ReturnType<typeof inputChangeOf>>,
): GuardedUpdate {
  const { epoch, inSeq, revision } = commit;
  const change = changeFieldsOf(commit);
  const values = commit.indexChange && valueFieldsOf(commit.indexChange.after);
  const moved = versionFieldsOf(commit);
  return {
    _id: encodeText(commit.id),
    epoch,
    inSeq,
    revision,
    attemptId,
    set: {
      ...moved.set,
      ...(commit.queued === true && { queued: true as const }),
      ...(commit.takesPlace === true && { place: 'held' as const }),
      ...(commit.window !== undefined && { countsFrom: commit.window.countsFrom }),
      ...input.set,
      status: commit.status,
      endTime: commit.endTime,
      ...change.set,
      ...values?.set,
      wakeAt: commit.wakeAt,
      state: packText(commit.state),
      schemaVersion: commit.schemaVersion,
      ...(commit.keepInbox === true ? {} : { inbox: [], inboxBytes: 0 }),
      crashes: commit.crashes ?? 0,
    },
    unset: {
      ...change.unset,
      ...values?.unset,
      ...moved.unset,
      ...(commit.queued === false && { queued: '' as const }),
      ...(commit.window?.isOpen === false && { debounceKey: '' as const }),
      ...input.unset,
      ...(!isLive(commit.status) && WITHOUT_SLOTS),
    },
    audit: commit.audit ?? [],
  };
}

export async function afterCommit(context: MongoContext, commit: InstanceCommit): Promise<void> {
  await removeActivities(context, commit);
  context.lazyWrites.removeSubscriptions(commit.removeSubscriptions.map(encodeText));
  context.lazyWrites.settleActivities(commit.settleActivities.map(encodeText));
}

function versionFieldsOf({ retentionMs = null, version }: InstanceCommit): {
  readonly set: Pick<Partial<InstanceDocument>, 'version' | 'retentionMs'>;
  readonly unset: { readonly retentionMs?: '' };
} {
  if (version === undefined) return { set: {}, unset: {} };
  return retentionMs === null
    ? { set: { version }, unset: { retentionMs: '' } }
    : { set: { version, retentionMs }, unset: {} };
}
