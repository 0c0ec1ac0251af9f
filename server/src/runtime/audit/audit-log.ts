/**
 * The audit log: clients' changes on all nodes.
 *
 *  AU1 Entries are only added. Only retention, which is set when an entry is added, removes them; nothing changes them.
 *  AU2 The names of entries sort by time, newest first, so a list reads them in the store's order.
 */
import type { Clock } from '../../base/clock.js';
import type { Ids } from '../../base/ids.js';
import type { ResourceRecord } from '../../store/records/resources.js';
import type { Store } from '../../store/store.js';
import type { RuntimeMetrics } from '../fleet/runtime-metrics.js';
import { decodeCursor, encodeCursor, type Page, type PageRequest } from '../model/paging.js';
import type { AuditedChange, AuditFilter, AuditView } from './audit-types.js';

export interface AuditLogOptions {
  readonly store: Pick<Store, 'listResources' | 'saveResource'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly ids: Pick<Ids, 'newId'>;
  readonly retentionMs: number;
  readonly metrics: Pick<RuntimeMetrics, 'audited'>;
}

/** Later than any time of an entry. */
const LAST_TIME = 999_999_999_999_999;
const READ_AT_ONCE = 500;
/** Maximum number of entries that one call reads; then the page ends, and its cursor continues. */
const READ_MAX = 10_000;
const LIST = 'audit';
const SEQUENCE_MAX = 999_999_999;

type StoredEntry = Omit<AuditView, 'id'>;

export class AuditLog {
  readonly #options: AuditLogOptions;
  /** Orders the entries of one millisecond. */
  #sequence = 0;

  constructor(options: AuditLogOptions) {
    this.#options = options;
  }

  /** The entries are stored when it returns. */
  async record(changes: readonly AuditedChange[]): Promise<void> {
    const { clock, ids, metrics, retentionMs, store } = this.#options;
    const time = clock.now();
    const saved = changes.map(async (change) => {
      const body = JSON.stringify({ ...change, time } satisfies StoredEntry);
      const name = `${timeKey(time)}-${this.#nextKey()}-${ids.newId(time)}`;
      const expiresAt = time + retentionMs;
      const record = { kind: 'audit-entry', name, revision: 1, expiresAt, body } as const;
      try {
        await store.saveResource(record, null);
        metrics.audited(change.target.kind, 'stored');
      } catch (error) {
        metrics.audited(change.target.kind, 'failed');
        throw error;
      }
    });
    await Promise.all(saved);
  }

  #nextKey(): string {
    this.#sequence = (this.#sequence + 1) % SEQUENCE_MAX;
    return String(SEQUENCE_MAX - this.#sequence).padStart(9, '0');
  }

  /**
   * Newest first. With a filter, a page may have fewer items than its limit although more follow.
   * @throws AppError `invalid_request` for a cursor of another list
   */
  async list(filter: AuditFilter, { cursor, limit }: PageRequest): Promise<Page<AuditView>> {
    const { clock, store } = this.#options;
    const now = clock.now();
    const items: AuditView[] = [];
    let after = decodeCursor(cursor, LIST)?.[0] ?? beforeTime(filter.to);
    for (let read = 0; read < READ_MAX && items.length < limit; read += READ_AT_ONCE) {
      const found = await store.listResources('audit-entry', after, READ_AT_ONCE);
      for (const record of found) {
        const entry = viewOf(record);
        if (filter.from !== undefined && entry.time < filter.from) return endOf(items);
        const isKept = record.expiresAt === null || record.expiresAt >= now;
        if (isKept && matches(entry, filter)) items.push(entry);
        after = record.name;
        if (items.length === limit) break;
      }
      if (found.length < READ_AT_ONCE && after === (found.at(-1)?.name ?? after))
        return endOf(items);
    }
    return { items, nextCursor: after === null ? null : encodeCursor(LIST, [after]) };
  }
}

/** The name that entries before this time follow. */
function beforeTime(time: number | undefined): string | null {
  return time === undefined ? null : timeKey(time - 1);
}

function endOf(items: readonly AuditView[]): Page<AuditView> {
  return { items, nextCursor: null };
}

function timeKey(time: number): string {
  const inverted = Math.min(LAST_TIME, Math.max(0, LAST_TIME - time));
  return String(inverted).padStart(15, '0');
}

function viewOf({ body, name }: ResourceRecord): AuditView {
  // Written by `record`.
  return { id: name, ...(JSON.parse(body) as StoredEntry) };
}

function matches(entry: AuditView, filter: AuditFilter): boolean {
  const { action, actor, address, targetId, targetKind } = filter;
  return (
    (actor === undefined || entry.actor === actor) &&
    (action === undefined || entry.action === action) &&
    (address === undefined || entry.address === address) &&
    (targetKind === undefined || entry.target.kind === targetKind) &&
    (targetId === undefined || entry.target.id === targetId)
  );
}
