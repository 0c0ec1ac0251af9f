/**
 * Compare-and-sets of instances that are requested at the same time share one `update` command.
 *
 * The server reports only how many of the updates matched. If all did, everyone has won. Otherwise the instances are read:
 * every update of a group also writes the id of its attempt, which shows who won. Only if another writer has committed the
 * instance since is the outcome unknown, as after a lost answer (rule S5).
 */
import {
  MongoServerError,
  type AnyBulkWriteOperation,
  type Filter,
  type UpdateFilter,
} from 'mongodb';
import { GroupCommit } from '../group-commit.js';
import type { AuditEntry } from '../records/control.js';
import { StoreUnavailableError } from '../store.js';
import type { Collections } from './collections.js';
import type { InstanceDocument } from './documents.js';
import { auditPush } from './instance-documents.js';
import {
  resultOf,
  type GroupedOutcome,
  groupErrorOf,
  writeFailuresIn,
  type WriteFailure,
} from './mongo-errors.js';
import { packedLength, type PackedText } from './packed-text.js';

/** Expected values, and the update; `attemptId` is unique to this attempt. */
export interface GuardedUpdate {
  readonly _id: string;
  readonly epoch: number;
  readonly inSeq: number;
  readonly revision: number;
  /** Undefined: any; null: absent. */
  readonly slotRevision?: string | null;
  readonly attemptId: string;
  readonly set: Readonly<Partial<InstanceDocument>> & { readonly state: PackedText };
  readonly unset: Readonly<Record<string, ''>>;
  readonly audit: readonly AuditEntry[];
}

type Instances = Pick<Collections['instances'], 'updateOne' | 'bulkWrite' | 'find'>;

export class GroupedCommits {
  readonly #instances: Instances;
  readonly #groups: GroupCommit<GuardedUpdate, GroupedOutcome<boolean>>;

  constructor({ instances }: { readonly instances: Instances }) {
    this.#instances = instances;
    this.#groups = new GroupCommit({
      send: (group) => this.#send(group),
      sizeOf: ({ set }) => packedLength(set.state),
    });
  }

  /** Also increments the revision. False: the instance has changed, or doesn't exist. */
  async commit(update: GuardedUpdate): Promise<boolean> {
    return resultOf(await this.#groups.submit(update));
  }

  async #send(group: readonly GuardedUpdate[]): Promise<readonly GroupedOutcome<boolean>[]> {
    const [first] = group;
    if (group.length === 1 && first !== undefined) {
      const { matchedCount } = await this.#instances.updateOne(
        filterOf(first),
        changeOf(first, {}),
      );
      return [{ result: matchedCount > 0 }];
    }
    // A server that executes a command in one transaction locks the documents in this order: two groups can't deadlock.
    const sorted = group.toSorted((left, right) => (left._id < right._id ? -1 : 1));
    const { matchedCount, failures } = await this.#updateAll(sorted);
    if (matchedCount === group.length) return group.map(() => ({ result: true }));
    const found = await this.#readAttempts(sorted);
    return group.map((update) => {
      const failure = failures.get(sorted.indexOf(update));
      if (failure !== undefined) return { error: new MongoServerError(failure) };
      return outcomeOf(update, found.get(update._id));
    });
  }

  async #updateAll(group: readonly GuardedUpdate[]): Promise<{
    readonly matchedCount: number;
    readonly failures: ReadonlyMap<number, WriteFailure>;
  }> {
    const operations = group.map((update): AnyBulkWriteOperation<InstanceDocument> => ({
      updateOne: {
        filter: filterOf(update),
        update: changeOf(update, { attemptId: update.attemptId }),
      },
    }));
    try {
      const { matchedCount } = await this.#instances.bulkWrite(operations, { ordered: false });
      return { matchedCount, failures: new Map() };
    } catch (error) {
      // Some failed, so the number doesn't matter.
      return { matchedCount: 0, failures: writeFailuresIn(groupErrorOf(error)) };
    }
  }

  async #readAttempts(
    group: readonly GuardedUpdate[],
  ): Promise<ReadonlyMap<string, AttemptDocument>> {
    const filter = { _id: { $in: group.map(({ _id }) => _id) } };
    const projection = { attemptId: 1, revision: 1 };
    const found = await this.#instances
      // A secondary may not have the updates yet.
      .find(filter, { projection, readPreference: 'primary' })
      .toArray()
      .catch((error: unknown) => {
        // The updates have been carried out, so they must not be repeated one by one.
        throw new StoreUnavailableError('The outcome of a group of commits is unknown', {
          cause: error,
        });
      });
    return new Map(found.map((document) => [document._id, document]));
  }
}

type AttemptDocument = Pick<InstanceDocument, 'attemptId' | 'revision'>;

function outcomeOf(
  update: GuardedUpdate,
  found: AttemptDocument | undefined,
): GroupedOutcome<boolean> {
  if (found === undefined) return { result: false };
  if (found.attemptId === update.attemptId) return { result: true };
  // A single commit was made by another writer; of two, the first may have been this one.
  if (found.revision <= update.revision + 1) return { result: false };
  return {
    error: new StoreUnavailableError(`The commit of ${update._id} was overtaken by another`),
  };
}

function filterOf({
  _id,
  epoch,
  inSeq,
  revision,
  slotRevision,
}: GuardedUpdate): Filter<InstanceDocument> {
  const guard = { _id, epoch, inSeq, revision };
  return slotRevision === undefined ? guard : { ...guard, ...atSlotRevision(slotRevision) };
}

export function atSlotRevision(slotRevision: string | null): Filter<InstanceDocument> {
  return { slotRevision: slotRevision ?? { $exists: false } };
}

function changeOf(
  { audit, set, unset }: GuardedUpdate,
  attempt: Pick<InstanceDocument, 'attemptId'>,
): UpdateFilter<InstanceDocument> {
  return {
    $set: { ...set, ...attempt },
    // Older servers refuse an `$unset` of nothing.
    ...(Object.keys(unset).length > 0 && { $unset: unset }),
    ...(audit.length > 0 && { $push: auditPush(...audit) }),
    $inc: { revision: 1 },
  };
}
