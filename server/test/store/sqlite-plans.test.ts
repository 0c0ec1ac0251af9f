/**
 * Goal: every statement of the embedded store uses an index (rule S7).
 * Method: runs all operations on a connection that records their statements, and asks SQLite how it would run each.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { afterAll, describe, expect, it } from 'vitest';
import type { InstanceFilter } from '../../src/store/records/instance-lists.js';
import { Database } from '../../src/store/sqlite/database.js';
import { SQLITE_OPERATIONS } from '../../src/store/sqlite/statements/operation-table.js';
import type { Row } from '../../src/store/sqlite/row.js';
import {
  activityOf,
  claimBy,
  commitOf,
  deliveryOf,
  eventOf,
  instanceOf,
  NO_SIDE,
} from './records.js';

/** All statements that were run; not in the object, because its constructor already runs statements. */
const recorded = new Set<string>();

class RecordingDatabase extends Database {
  override run(sql: string, ...values: readonly SQLInputValue[]): number {
    recorded.add(sql);
    return super.run(sql, ...values);
  }

  override get(sql: string, ...values: readonly SQLInputValue[]): Row | null {
    recorded.add(sql);
    return super.get(sql, ...values);
  }

  override each(sql: string, ...values: readonly SQLInputValue[]): Generator<Row> {
    recorded.add(sql);
    return super.each(sql, ...values);
  }

  override all(sql: string, ...values: readonly SQLInputValue[]): readonly Row[] {
    recorded.add(sql);
    return super.all(sql, ...values);
  }
}

/** Numbers for people who read /metrics; they count, so they read rows. */
const COUNTS = [/COUNT\(\*\)(?!.*INDEXED BY instances_places)/s];
/** These sort at most one page, one inbox, or the entries of a short path (search-plan.ts). */
const BOUNDED_SORTS = [
  /^WITH newest/,
  /UNION ALL/,
  /FROM inbox/,
  /DISTINCT startTime AS entryTime/,
  /entryTime, id AS entryId FROM instances WHERE id IN/,
  /INDEXED BY instances_ended .* ORDER BY entryTime/,
];
const FILTERS: readonly InstanceFilter[] = [
  {},
  { status: 'Runnable' },
  { definitionId: 'd' },
  { definitionId: 'd', status: 'Suspended' },
  { reference: 'r' },
  { reference: 'r', definitionId: 'd', status: 'Complete', version: 1 },
  { version: 2 },
  { definitionId: 'd', version: 2 },
  { definitionId: 'd', version: 2, status: 'Suspended', startedFrom: 1 },
  { definitionId: 'd', version: 2, failedFrom: 1 },
  { startedFrom: 1, startedTo: 9 },
  { outcome: 'Failed' },
  { outcome: 'Failed', definitionId: 'd', parentId: null },
  { outcome: 'Succeeded', definitionId: 'd' },
  { parentId: null },
  { parentId: null, status: 'Runnable' },
  { parentId: 'p' },
  { parentId: 'p', definitionId: 'd', outcome: 'Failed' },
  { queued: true },
  { queued: true, reference: 'r', definitionId: 'd', status: 'Suspended', startedFrom: 1 },
  { queued: true, parentId: 'p', failedFrom: 1 },
  { failedFrom: 1 },
  { failure: 'k' },
  { failure: 'k', definitionId: 'd', status: 'Suspended', startedFrom: 1 },
  { failure: 'k', failedFrom: 1 },
  { failedFrom: 1, definitionId: 'd', status: 'Suspended' },
  { unchangedSince: 9 },
  { unchangedSince: 9, reference: 'r' },
  { endedFrom: 1, endedTo: 9 },
  { endedTo: 9, failedFrom: 1 },
  { mayContain: 'x' },
  ...(['=', '!=', '<', '^='] as const).flatMap((operator): InstanceFilter[] => {
    const where = [{ of: 'tag', name: 'n', operator, values: ['x'] }] as const;
    return [
      { where },
      { where: [{ of: 'tag', name: 'n', operator, values: [7, '7'] }] },
      { where: [...where, ...where], definitionId: 'd', status: 'Suspended', startedFrom: 1 },
      { where, endedFrom: 1 },
      { where, failedFrom: 1 },
      { where, unchangedSince: 9 },
    ];
  }),
];

const directory = await mkdtemp(join(tmpdir(), 'stepwright-plans-'));
afterAll(() => rm(directory, { recursive: true }));

const TERMINATION = { time: 1, actor: 'a', action: 'terminate', detail: null } as const;

function runEveryOperation(database: Database): void {
  const run = SQLITE_OPERATIONS;
  run.insertDefinition(database, [
    { id: 'd', description: null, body: '', createdAt: 1 },
    { id: 'stamp', requestHash: 'h' },
  ]);
  run.getDefinition(database, ['d', 'latest']);
  run.getDefinition(database, ['d', 1]);
  for (const after of [null, 'a']) {
    run.listDefinitions(database, [after, 5]);
    run.listStepScripts(database, [after, 5]);
    run.findSubscriptions(database, ['k', 9, after, 5]);
    run.listSubscriptions(database, ['k', after, 5]);
  }
  run.insertStepScript(database, [{ name: 's', source: '', createdAt: 1 }]);
  run.getStepScript(database, ['s', 'latest']);
  run.getStepScript(database, ['s', 1]);
  for (const before of [null, 5]) {
    run.listDefinitionVersions(database, ['d', before, 5]);
    run.listStepScriptVersions(database, ['s', before, 5]);
  }
  const side = {
    history: [{ instanceId: 'i', sequence: 0, body: '' }],
    subscriptions: [{ id: 's', instanceId: 'i', nameKey: 'k', effectiveAt: 1 }],
    activities: [activityOf('a', 'i'), activityOf('b', 'i')],
  };
  const record = instanceOf('i', { inbox: [{ id: 'm', body: '' }] });
  run.insertInstance(database, [{ record, side }]);
  run.insertInstance(database, [
    { record: instanceOf('suspended', { status: 'Suspended' }), side: NO_SIDE },
  ]);
  const named = instanceOf('named', { reference: 'r', status: 'Suspended' });
  const audit = TERMINATION;
  for (const scope of ['open', 'kept'] as const) {
    run.insertInstance(database, [
      { record: named, side: NO_SIDE, conflict: { action: 'refuse', scope } },
    ]);
    const joining = { ...named, id: 'joining' };
    run.insertInstance(database, [
      { record: joining, side: NO_SIDE, conflict: { action: 'join', scope } },
    ]);
  }
  const replacing = { ...named, id: 'replacing' };
  run.insertInstance(database, [
    { record: replacing, side: NO_SIDE, conflict: { action: 'terminate', audit } },
  ]);
  for (const queued of [false, true]) {
    const record = { ...named, id: `queued ${queued}`, startTime: 5000, queued };
    run.insertInstance(database, [
      { record, side: NO_SIDE, conflict: { action: 'queue', queued } },
    ]);
  }
  run.findPredecessor(database, [{ definitionId: 'order', reference: 'r', id: 'x', at: 9 }]);
  runPlaces(database);
  runSlots(database);
  runFairness(database);
  const child = instanceOf('child', { parentId: 'i', rootId: 'i' });
  run.insertInstance(database, [{ record: child, side: NO_SIDE, openDescendantsMax: 5 }]);
  run.getInstance(database, ['i']);
  for (const filter of FILTERS) {
    run.listInstances(database, [{ filter, after: null, limit: 5 }]);
    run.listInstances(database, [{ filter, after: { time: 5, id: 'x' }, limit: 5 }]);
    run.countInstances(database, [{ filter, after: null, max: 5 }]);
  }
  run.findInstancesByText(database, [{ text: '4', values: [4, '4'], limit: 5 }]);
  run.claimInstance(database, [{ id: 'i', epoch: 1, owner: 'o', suspected: true }]);
  run.findDueInstances(database, [9, 5]);
  run.findDueInstances(database, [9, 5, { wakeAt: 3, id: 'a' }]);
  for (const after of [null, 'a']) run.findInstancesUnderWay(database, ['o', after, 5]);
  run.findChangedInstances(database, ['o', { time: 1, id: '' }, 5]);
  run.setCrashes(database, ['i', 2, 1]);
  run.postMessages(database, [[{ instanceId: 'i', message: { id: 'n', body: '' } }]]);
  run.controlInstance(database, ['suspended', 'resume', 1]);
  const resumed = { ...audit, action: 'resume' } as const;
  run.appendAudit(database, ['i', resumed]);
  run.listAudit(database, ['i']);
  run.patchTags(database, ['i', { a: 'b' }, { ...resumed, action: 'set-tags' }]);
  run.replaceIndex(database, [
    { id: 'suspended', inSeq: 1, revision: 1 },
    { before: {}, after: { f: 1 } },
  ]);
  run.readHistory(database, ['i', 0, 5]);
  const claim = claimBy('w');
  const request = { name: 'ship', now: 2000, claim, deferMs: 10 };
  run.claimActivity(database, [request]);
  run.findAvailableActivities(database, [['ship'], 2000]);
  run.extendActivity(database, ['a', claim.tokenHash, 9000, 2000]);
  const result = { succeeded: true, data: '', hash: 'h' };
  const message = { id: 'r', body: '' };
  const completion = { activityId: 'a', tokenHash: claim.tokenHash, result, now: 1, message };
  run.completeActivity(database, [completion]);
  run.completeActivity(database, [completion]);
  run.findUnsettledActivities(database, [9, 5]);
  run.releaseActivity(database, ['b', 'x']);
  run.withdrawActivities(database, [['b', 'none']]);
  const held = instanceOf('i', { epoch: 2, inSeq: 2 });
  const removals = { removeSubscriptions: ['s'], removeActivities: ['b'], settleActivities: ['a'] };
  const again = { ...side, activities: [activityOf('a', 'i', { name: 'other', claim })] };
  run.commitInstance(database, [
    commitOf(held, { side: again, ...removals, status: 'Complete', endTime: 5 }),
  ]);
  run.commitInstance(database, [commitOf(instanceOf('queued true'), { queued: false })]);
  run.insertEvent(database, [eventOf('e')]);
  run.insertEvent(database, [eventOf('f'), { id: 'm', body: '{}' }]);
  run.getEvent(database, ['e']);
  run.findEvents(database, ['k', { publishedAt: 1, id: '' }, 5]);
  run.findUndeliveredEvents(database, [9, 5]);
  for (const isConfirmed of [false, true]) {
    run.markEventsDelivered(database, [[deliveryOf('e', ['i'], { isConfirmed })]]);
  }
  run.listEvents(database, [{ nameKey: null, before: null, limit: 5 }]);
  run.listEvents(database, [{ nameKey: 'k', before: { publishedAt: 1, id: 'e' }, limit: 5 }]);
  run.getSummaries(database, [['i', 'unknown']]);
  run.listActivityQueues(database, [9, 5]);
  run.listActivityItems(database, ['ship', 9, null, 5]);
  run.putNode(database, [
    { id: 'n', beatAt: 1, url: '', version: '', hostname: '', pid: 1, details: null },
  ]);
  run.removeNode(database, ['n']);
  run.purge(database, [
    {
      instancesEndedBefore: 9,
      untoldEndedBefore: 5,
      eventsPublishedBefore: 9,
      activitiesDoneBefore: 9000,
      limit: 5,
    },
  ]);
  run.statistics(database, []);
}

function runSlots(database: Database): void {
  const run = SQLITE_OPERATIONS;
  const [api, db] = ['api', 'db'].map((limit) => ({ limit, key: 'k', units: 1 }));
  if (api === undefined || db === undefined) return;
  const rule = { concurrency: 1, rate: { count: 1, perMs: 1000, burst: 1 } };
  for (const { limit: name } of [api, db]) {
    const body = JSON.stringify(rule);
    run.saveResource(database, [{ kind: 'limit', name, revision: 1, expiresAt: null, body }, null]);
  }
  const none = { take: [], wait: [], begun: [], free: [] };
  const request = (execution: string) => ({ execution, needs: [api, db] as const });
  const waiting = { ...request('slotted/2'), since: 1, on: api };
  const items = ['ship-slotted', 'pack-slotted'].map((name) =>
    activityOf(`slotted/${name}`, 'slotted', { name, needs: [api] }),
  );
  const record = instanceOf('slotted');
  run.insertInstance(database, [
    { record, side: NO_SIDE, slots: { ...none, take: [request('slotted/1')] } },
  ]);
  const side = { ...NO_SIDE, activities: items };
  run.commitInstance(database, [commitOf(record, { side, slots: { ...none, wait: [waiting] } })]);
  const next = { ...record, revision: 2 };
  const freed = { ...none, free: [request('slotted/1')], begun: ['slotted/3'] };
  run.grantSlots(database, [{ limit: 'api', key: 'k', now: 9000, aheadMs: 0 }]);
  run.commitInstance(database, [commitOf(next, { slots: freed })]);
  for (const limit of ['api', 'db', 'none']) {
    run.grantSlots(database, [{ limit, key: 'k', now: 9000, aheadMs: 0 }]);
  }
  for (const { name } of items) {
    const claim = { name, now: 9000, claim: claimBy('w'), deferMs: 10 };
    run.claimActivity(database, [claim]);
  }
  run.releaseActivity(database, ['slotted/ship-slotted', 'token-w']);
  const ship = { activityId: 'slotted/ship-slotted', tokenHash: 'token-w' };
  const claim = { name: 'ship-slotted', now: 20_000, claim: claimBy('w', 20_500), deferMs: 10 };
  run.claimActivity(database, [claim]);
  run.extendActivity(database, [ship.activityId, ship.tokenHash, 20_600, 20_000]);
  run.keepClaims(database, [[{ ...ship, tokenHash: 'token-other' }], 20_000]);
  // Its lease has ended.
  const later = { ...record, revision: 3 };
  const takes = { ...none, take: [request('slotted/4')] };
  run.commitInstance(database, [commitOf(later, { slots: takes, lastChangeAt: 30_000 })]);
  run.takeOverActivity(database, ['slotted/pack-slotted', claimBy('v')]);
  for (const after of [null, api]) run.findWaitedKeys(database, [after, 5]);
  run.countSlots(database, [['api', 'db'], 9000]);
  for (const { id } of items) run.findSlotPosition(database, [id, 9000]);
  run.findSlotPosition(database, ['slotted/2', 9000]);
}

/** Everything that takes turns: items, executions and items that wait for a slot, and instances that wait for a place. */
function runFairness(database: Database): void {
  const run = SQLITE_OPERATIONS;
  const need = { limit: 'fair', key: '', units: 1 };
  const body = JSON.stringify({ concurrency: 1 });
  const limit = { kind: 'limit', name: 'fair', revision: 1, expiresAt: null, body } as const;
  run.saveResource(database, [limit, null]);
  for (const key of ['a', 'b']) {
    const [fairness, id] = [{ key, weight: 1 }, `fair-${key}`];
    const place = {
      concurrencyKey: 'fair',
      place: 'waiting',
      countsFrom: 1,
      queued: true,
    } as const;
    const activities = ['1', '2', '3'].map((n) =>
      activityOf(`${id}/${n}`, id, {
        name: n === '3' ? 'fair-slotted' : 'fair',
        fairness,
        ...(n === '3' && { needs: [need] }),
      }),
    );
    const wait = [{ execution: `${id}/4`, needs: [need] as const, since: 1, on: need }];
    const record = instanceOf(id, { fairness, ...place });
    const slots = { take: [], wait, begun: [], free: [] };
    run.insertInstance(database, [{ record, side: { ...NO_SIDE, activities }, slots }]);
  }
  const audit = { time: 1, actor: 'a', action: 'set-priority', detail: null } as const;
  run.setPriority(database, ['fair-b', 2, audit]);
  for (let n = 0; n < 6; n += 1) {
    for (const name of ['fair', 'fair-slotted']) {
      run.claimActivity(database, [{ name, now: 2000, claim: claimBy('w'), deferMs: 10 }]);
    }
    run.grantSlots(database, [{ limit: 'fair', key: '', now: 9000, aheadMs: 0 }]);
    const places = { definitionId: 'order', key: 'fair', limit: n, asking: null, now: 1 };
    run.grantPlaces(database, [places]);
  }
}

function runPlaces(database: Database): void {
  const run = SQLITE_OPERATIONS;
  const of = { definitionId: 'order', key: 'k' };
  const places = { limit: 2, maxQueued: 2 };
  const replacing = { action: 'terminate', audit: TERMINATION } as const;
  for (const place of ['held', 'waiting'] as const) {
    const own = { concurrencyKey: 'k', place, countsFrom: 1, queued: place === 'waiting' };
    const insert = { side: NO_SIDE, places };
    run.insertInstance(database, [{ record: instanceOf(place, own), ...insert }]);
    const record = instanceOf(`${place} instead`, { ...own, reference: 'place' });
    run.insertInstance(database, [{ record, ...insert, conflict: replacing }]);
    // With a third, the places are taken.
    run.insertInstance(database, [{ record: instanceOf(`third ${place}`, own), ...insert }]);
  }
  for (const asking of [null, 'waiting']) {
    run.grantPlaces(database, [{ ...of, limit: 9, asking, now: 1 }]);
  }
  run.countPlaces(database, [of, 'waiting']);
  for (const after of [null, 'a']) run.findWaitingKeys(database, ['order', after, 5]);
}

describe('the statements of the SQLite store', () => {
  const path = join(directory, 'plans.db');
  const database = new RecordingDatabase({ path, busyTimeoutMs: 100 });
  runEveryOperation(database);
  database.close();
  const connection = new DatabaseSync(path);
  afterAll(() => {
    connection.close();
  });
  const statements = [...recorded].filter((sql) => !COUNTS.some((count) => count.test(sql)));

  it('includes enough statements to be checked', () => {
    expect(statements.length).toBeGreaterThan(60);
  });

  it.each(statements)("searches an index and doesn't sort: %s", (sql) => {
    const steps = connection
      .prepare(`EXPLAIN QUERY PLAN ${sql}`)
      .all()
      .map(({ detail }) => String(detail));
    // A list with a limit walks an index in its order.
    // The steps of a subquery that is executed once are checked themselves.
    const subqueries = steps.flatMap((step) => {
      const [, name] = /^(?:CO-ROUTINE|MATERIALIZE) (\S+)/.exec(step) ?? [];
      return name === undefined ? [] : [name];
    });
    const scans = steps.filter((step) => {
      const [, name = ''] =
        /^SCAN (?!CONSTANT ROW|instances USING (?:COVERING )?INDEX)(\S+)/.exec(step) ?? [];
      return name !== '' && !subqueries.includes(name);
    });
    expect(scans).toEqual([]);
    const maySort = BOUNDED_SORTS.some((sort) => sort.test(sql));
    expect(steps.filter((step) => !maySort && step.includes('TEMP B-TREE'))).toEqual([]);
  });
});
