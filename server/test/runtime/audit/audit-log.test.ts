/** The audit log on a store in memory: its order, its retention, and a store that fails. */
import { beforeEach, describe, expect, it } from 'vitest';
import { createIds } from '../../../src/base/ids.js';
import { AuditLog } from '../../../src/runtime/audit/audit-log.js';
import type { AuditedChange } from '../../../src/runtime/audit/audit-types.js';
import { createMemoryStore } from '../../../src/store/memory/memory-store.js';
import { StoreUnavailableError, type Store } from '../../../src/store/store.js';

const RETENTION_MS = 60_000;

function change(id: string, actor = 'ada'): AuditedChange {
  return {
    actor,
    address: '192.0.2.7',
    action: 'webhook.put',
    target: { kind: 'webhook', id },
    detail: null,
  };
}

describe('AuditLog', () => {
  let now: number;
  let store: Store;
  let log: AuditLog;
  let counted: string[];

  const create = (entries: Pick<Store, 'listResources' | 'saveResource'>): AuditLog =>
    new AuditLog({
      store: entries,
      clock: { now: () => now },
      ids: createIds((bytes) => bytes.fill(7)),
      retentionMs: RETENTION_MS,
      metrics: { audited: (target, result) => counted.push(`${target} ${result}`) },
    });
  const idsOf = async (
    filter: Parameters<AuditLog['list']>[0] = {},
    limit = 500,
  ): Promise<readonly string[]> => {
    const found: string[] = [];
    let cursor: string | null = null;
    do {
      const page = await log.list(filter, { limit, cursor });
      found.push(...page.items.map(({ target }) => target.id));
      cursor = page.nextCursor;
    } while (cursor !== null);
    return found;
  };

  beforeEach(() => {
    now = Date.UTC(2026, 4, 4);
    store = createMemoryStore();
    counted = [];
    log = create(store);
  });

  it('lists the newest first, also within one millisecond and across pages (AU2)', async () => {
    const names = Array.from({ length: 25 }, (_, index) => `w${index}`);
    for (const name of names) {
      await log.record([change(name)]);
      if (name === 'w20') now += 1;
    }
    const expected = names.toReversed();
    expect(await idsOf()).toEqual(expected);
    expect(await idsOf({}, 1)).toEqual(expected);
    expect(await idsOf({}, 7)).toEqual(expected);
  });

  it('bounds a list by time: from is inclusive, to is exclusive', async () => {
    const start = now;
    for (const name of ['a', 'b', 'c']) {
      await log.record([change(name)]);
      now += 1;
    }
    expect(await idsOf({ from: start + 1 })).toEqual(['c', 'b']);
    expect(await idsOf({ to: start + 2 })).toEqual(['b', 'a']);
    expect(await idsOf({ from: start + 1, to: start + 2 })).toEqual(['b']);
  });

  it('finds the few that match among many', async () => {
    await log.record([change('rare', 'eve')]);
    for (let n = 0; n < 12; n += 1) {
      now += 1;
      await log.record(Array.from({ length: 100 }, (_, index) => change(`w${n}-${index}`)));
    }
    expect(await idsOf({ actor: 'eve' }, 5)).toEqual(['rare']);
    expect(await idsOf({ targetId: 'none' }, 5)).toEqual([]);
  });

  it('does not show entries after their retention, whether or not they are removed yet (AU1)', async () => {
    await log.record([change('old')]);
    now += RETENTION_MS;
    await log.record([change('new')]);
    expect(await idsOf()).toEqual(['new', 'old']);
    now += 1;
    expect(await idsOf()).toEqual(['new']);
    expect(await store.listResources('audit-entry', null, 9)).toHaveLength(2);
  });

  it('does not return before the entry is stored, and fails if it cannot be', async () => {
    const failing = create({
      listResources: (...range) => store.listResources(...range),
      saveResource: () => Promise.reject(new StoreUnavailableError('The store is down')),
    });
    await expect(failing.record([change('lost')])).rejects.toThrow(StoreUnavailableError);
    expect(await idsOf()).toEqual([]);
    await log.record([change('kept')]);
    expect(counted).toEqual(['webhook failed', 'webhook stored']);
  });
});
