/** Starts that joined an instance, as documents. */
import type { JoinedStart } from '../joined-starts.js';
import { decodeText, encodeText } from '../text-codec.js';
import type { JoinedStartDocument } from './documents.js';
import { packText, unpackText } from './packed-text.js';

export function joinedStartOf(document: JoinedStartDocument): JoinedStart {
  const { _id, body, instanceId, joinedAt = 0, requestHash } = document;
  return {
    id: decodeText(_id),
    requestHash: decodeText(requestHash),
    instanceId: decodeText(instanceId),
    joinedAt,
    body: body === undefined ? null : unpackText(body),
  };
}

export function joinedStartDocumentOf(record: JoinedStart): JoinedStartDocument {
  const { body, id, instanceId, joinedAt, requestHash } = record;
  return {
    _id: encodeText(id),
    requestHash: encodeText(requestHash),
    instanceId: encodeText(instanceId),
    joinedAt,
    ...(body !== null && { body: packText(body) }),
  };
}
