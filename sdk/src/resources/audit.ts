/** Who changed what. */
import type { AuditEntry } from '../api-types.js';
import type { CallOptions } from '../options.js';
import { PagedList } from '../paged-list.js';
import type { Transport } from '../transport.js';

/** Filters the audit log. The default is all entries. */
export interface AuditFilter {
  /** The subject of a token, or the name of an API key. */
  readonly actor?: string;
  /** Such as `workflow.suspend`. */
  readonly action?: string;
  /** The client address of the calls. */
  readonly address?: string;
  /** Such as `webhook`. */
  readonly targetKind?: string;
  /** An id or a name. */
  readonly targetId?: string;
  /** ISO 8601, inclusive. */
  readonly from?: string;
  /** ISO 8601, exclusive. */
  readonly to?: string;
}

/** Reads the audit log: `client.audit`. Its calls need the scope `conductor:admin`. */
export class AuditResource {
  readonly #transport: Transport;

  /** @internal Created by `createClient`. */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Lists the changes made by clients, the newest first. With filters, a page can have fewer items than its limit.
   *
   * @param options `limit` is the page size
   *
   * @example
   * ```ts
   * for await (const { actor, action, target, time } of client.audit.list({ targetKind: 'key' })) {
   *   console.log(time, actor, action, target.id);
   * }
   * ```
   */
  list(
    filter: AuditFilter & CallOptions & { readonly limit?: number } = {},
  ): PagedList<AuditEntry> {
    const { retry, signal, timeoutMs, ...query } = filter;
    const call = { repeatable: 'always', subject: {} } as const;
    return new PagedList((cursor) =>
      this.#transport.call(
        'get',
        '/api/audit',
        { ...call, query: { ...query, cursor } },
        { retry, signal, timeoutMs },
      ),
    );
  }
}
