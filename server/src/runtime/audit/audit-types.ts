/** The audit log of the server: who changed what. Times are milliseconds since 1970. */

/** The target of a change. */
export interface AuditTarget {
  /** For example `webhook`. */
  readonly kind: string;
  /** The id or the name. */
  readonly id: string;
}

/** A change that has been made. */
export interface AuditedChange {
  readonly actor: string;
  /** The address that the call came from. */
  readonly address: string;
  /** For example `webhook.put`. */
  readonly action: string;
  readonly target: AuditTarget;
  readonly detail: string | null;
}

export interface AuditView extends AuditedChange {
  readonly id: string;
  readonly time: number;
}

export interface AuditFilter {
  readonly actor?: string;
  readonly action?: string;
  readonly targetKind?: string;
  readonly targetId?: string;
  readonly address?: string;
  /** Inclusive. */
  readonly from?: number;
  /** Exclusive. */
  readonly to?: number;
}
