/** Activities as documents. */
import type { UpdateFilter } from 'mongodb';
import type { ActivityClaim, ActivityRecord, ActivityResult } from '../records/activities.js';
import { decodeText, encodeText } from '../text-codec.js';
import type { ActivityDocument } from './documents.js';
import { decodeOptional, unpackText } from './packed-text.js';

export function activityOf(document: ActivityDocument): ActivityRecord {
  return {
    id: decodeText(document._id),
    instanceId: decodeText(document.instanceId),
    name: decodeText(document.name),
    parameters: unpackText(document.parameters),
    createdAt: document.createdAt,
    availableAt: document.availableAt,
    attempt: document.attempt,
    tokenHash: decodeOptional(document.tokenHash),
    workerId: decodeOptional(document.workerId),
    done: document.done,
    withdrawn: document.settled && document.resultHash === null,
  };
}

/** The update that hands an item to the claimant and increments its attempt. */
export function claimUpdate(claim: ActivityClaim): UpdateFilter<ActivityDocument> {
  return {
    $set: {
      availableAt: claim.leaseExpiresAt,
      tokenHash: encodeText(claim.tokenHash),
      workerId: encodeText(claim.workerId),
      deferred: false,
    },
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
