/** Activities as documents. */
import type { ActivityRecord, ActivityResult } from '../store.js';
import { decodeText } from '../text-codec.js';
import type { ActivityDocument } from './collections.js';
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
  };
}

export function resultOf(document: ActivityDocument): ActivityResult {
  return {
    succeeded: document.succeeded ?? false,
    data: unpackText(document.resultData ?? ''),
    hash: decodeText(document.resultHash ?? ''),
  };
}
