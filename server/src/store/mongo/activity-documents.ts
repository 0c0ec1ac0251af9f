/** Activities as documents. */
import type { Condition, UpdateFilter } from 'mongodb';
import { DEFAULT_PRIORITY, PRIORITIES, type Priority } from '../../engine/model/start-options.js';
import type { ActivityClaim, ActivityRecord, ActivityResult } from '../records/activities.js';
import { decodeText, encodeText } from '../text-codec.js';
import type { ActivityDocument } from './documents.js';
import { fairnessOf } from './fairness-fields.js';
import { decodeOptional, unpackText } from './packed-text.js';
import { neededSlotOf } from './slot-names.js';

export function activityOf(document: ActivityDocument): ActivityRecord {
  const fairness = fairnessOf(document);
  return {
    id: decodeText(document._id),
    instanceId: decodeText(document.instanceId),
    name: decodeText(document.name),
    parameters: unpackText(document.parameters),
    priority: document.priority ?? DEFAULT_PRIORITY,
    ...(fairness !== null && { fairness }),
    ...(document.needs !== undefined && { needs: document.needs.map(neededSlotOf) }),
    createdAt: document.createdAt,
    availableAt: document.availableAt,
    attempt: document.attempt,
    tokenHash: decodeOptional(document.tokenHash),
    workerId: decodeOptional(document.workerId),
    done: document.done,
    withdrawn: document.settled && document.resultHash === null,
  };
}

/** The index of the queue begins with name and priority. Items of earlier versions of the server have none. */
export const ANY_PRIORITY: Condition<Priority | null> = { $in: [null, ...PRIORITIES] };

/** The update that hands an item to the claimant and increments its attempt. */
export function claimUpdate(claim: ActivityClaim): UpdateFilter<ActivityDocument> {
  return {
    $set: {
      availableAt: claim.leaseExpiresAt,
      tokenHash: encodeText(claim.tokenHash),
      workerId: encodeText(claim.workerId),
      deferred: false,
    },
    $unset: { slotOn: '', slotState: '', slotsLost: '' },
    $inc: { attempt: 1 },
  };
}

export function resultOf(document: ActivityDocument): ActivityResult {
  return {
    succeeded: document.succeeded ?? false,
    data: unpackText(document.resultData ?? ''),
    hash: decodeText(document.resultHash ?? ''),
  };
}
