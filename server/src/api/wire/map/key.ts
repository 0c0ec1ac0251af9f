/** API keys between host and wire. */
import { quoteText } from '../../../engine/values/convert-input.js';
import { nameProblem } from '../../../engine/values/names.js';
import type * as host from '../../../runtime/access/api-key-types.js';
import { isScope, NOT_A_SCOPE } from '../../access/scopes.js';
import type * as wire from '../models/key.js';
import { invalidMember, membersOf, refuseUnknown } from './body-members.js';
import { fromWireTime, toWireTime, toWireTimeOrNull } from './time.js';

const MEMBERS = membersOf<wire.ApiKeyRequest>({ name: true, scopes: true, expires: true });

/** @throws AppError `invalid_request` */
export function toApiKeyRequest(body: wire.ApiKeyRequest, actor: string): host.ApiKeyRequest {
  refuseUnknown(body, MEMBERS, '');
  const { expires, name, scopes } = body;
  const problem = name.trim() === '' ? 'must not be blank' : nameProblem(name);
  if (problem !== null) throw invalidMember(`name ${problem}`, '/name');
  scopes.forEach((scope, at) => {
    if (!isScope(scope)) {
      throw invalidMember(`scopes: ${quoteText(scope)} ${NOT_A_SCOPE}`, `/scopes/${at}`);
    }
  });
  return {
    name,
    scopes: [...new Set(scopes)],
    expiresAt: expires === undefined ? null : fromWireTime(expires, 'expires'),
    actor,
  };
}

export function toApiKey(view: host.ApiKeyView): wire.ApiKey {
  const { createdAt, createdBy, expiresAt, id, lastUsedAt, name, scopes } = view;
  return {
    id,
    name,
    scopes: [...scopes],
    createdBy,
    createdTime: toWireTime(createdAt),
    expires: toWireTimeOrNull(expiresAt),
    lastUsedTime: toWireTimeOrNull(lastUsedAt),
  };
}
