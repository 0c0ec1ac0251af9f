/** Converts the audit log between host and wire. */
import type { AuditFilter, AuditView } from '../../../runtime/audit/audit-types.js';
import type * as wire from '../models/audit.js';
import { fromWireTime, toWireTime } from './time.js';

export function toAuditEntry(entry: AuditView): wire.AuditEntry {
  const { action, actor, address, detail, id, target, time } = entry;
  return { id, time: toWireTime(time), actor, address, action, target: { ...target }, detail };
}

/** @throws AppError `invalid_request` for a malformed time */
export function toAuditFilter(query: {
  readonly actor: string | undefined;
  readonly action: string | undefined;
  readonly address: string | undefined;
  readonly targetKind: string | undefined;
  readonly targetId: string | undefined;
  readonly from: string | undefined;
  readonly to: string | undefined;
}): AuditFilter {
  const { action, actor, address, from, targetId, targetKind, to } = query;
  return {
    ...(actor !== undefined && { actor }),
    ...(action !== undefined && { action }),
    ...(address !== undefined && { address }),
    ...(targetKind !== undefined && { targetKind }),
    ...(targetId !== undefined && { targetId }),
    ...(from !== undefined && { from: fromWireTime(from, 'from') }),
    ...(to !== undefined && { to: fromWireTime(to, 'to') }),
  };
}
