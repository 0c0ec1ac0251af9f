/** Connects API keys and the audit log. */
import { AuditLog } from './audit/audit-log.js';
import type { NodeServicesOptions } from './node-options.js';
import { ApiKeyVerifier } from './access/api-key-verifier.js';
import { ApiKeys } from './access/api-keys.js';

export interface AccessServices {
  readonly keys: ApiKeys;
  readonly verifier: ApiKeyVerifier;
  readonly auditLog: AuditLog;
}

export function createAccess(options: NodeServicesOptions): AccessServices {
  const verifier = new ApiKeyVerifier(options);
  return {
    keys: new ApiKeys({ ...options, removed: (id) => verifier.forget(id) }),
    verifier,
    auditLog: new AuditLog({ ...options, retentionMs: options.settings.auditRetentionMs }),
  };
}
