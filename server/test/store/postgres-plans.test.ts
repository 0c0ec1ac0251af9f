/**
 * Goal: every frequent read of the store on PostgreSQL is served by an index (rule S7), and most commits are HOT updates.
 * Statements that are sent often are not planned each time.
 * Method: a table with many rows; the server explains the plans of the statements that the store sends.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPostgresStore } from '../../src/store/postgres/postgres-store.js';
import { qualify } from '../../src/store/postgres/prepared-texts.js';
import type { InstanceFilter } from '../../src/store/records/instance-lists.js';
import type { ConflictScope } from '../../src/store/records/instances.js';
import type { Store } from '../../src/store/store.js';
import { postgresForTests } from '../support/postgres-container.js';
import { claimBy, commitOf, eventOf, instanceOf, NO_SIDE } from './records.js';
import { openTestSchema, type TestSchema } from './support/postgres-schema.js';

const ROWS = 30_000;
const PAGE = 20;
/** Distinct names of tags, each on one instance. */
const NAMES = 200_000;
/** A filter that no index has passes over some rows; a span of `change_span` is read as a whole. */
const MUCH_MORE_THAN_A_PAGE = 300;
const postgres = await postgresForTests();

/** Updates of the instances, as the server counts them. */
interface Updates {
  readonly all: number;
  readonly hot: number;
}

interface PlanNode {
  readonly 'Actual Rows': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly PlanNode[];
}

function mostRows(node: PlanNode): number {
  const own = node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0);
  return Math.max(own, ...(node.Plans ?? []).map(mostRows));
}

const FILTERS: readonly InstanceFilter[] = [
  {},
  { mayContain: 'i' },
  { status: 'Runnable' },
  { definitionId: 'd1' },
  { definitionId: 'd1', status: 'Suspended' },
  // The oldest runs of the definition.
  { definitionId: 'd1', version: 1 },
  { reference: 'r77' },
  { outcome: 'Failed' },
  { outcome: 'Succeeded', definitionId: 'd1' },
  { parentId: null },
  { parentId: 'i5' },
  { failedFrom: 1 },
  { failure: 'k1' },
  { queued: true },
  { queued: true, reference: 'r79' },
  { unchangedSince: 9_000_000 },
];

describe.skipIf(postgres === null)('the store on PostgreSQL with many rows', () => {
  let schema: TestSchema;
  let store: Store;
  const statements: { readonly text: string; readonly values: readonly unknown[] }[] = [];

  beforeAll(async () => {
    schema = await openTestSchema(postgres?.url ?? '');
    store = createPostgresStore({
      url: schema.url,
      operationTimeoutMs: 20_000,
      onStatement: (text, values) => void statements.push({ text, values }),
    });
    await store.start();
    await schema.client.query(`
      INSERT INTO "${schema.name}".instances
        (id, definition_id, version, reference, status, start_time, end_time, outcome, parent_id, root_id, last_change_at,
         error_at, failure_key, queued, counts_from, wake_at, owner, epoch, in_seq, revision, under_way, crashes, schema_version, state)
      SELECT 'i' || n, 'd' || n % 50, 1 + n / 1500, 'r' || n % 5000,
             CASE WHEN n % 10 < 8 THEN 'Complete' WHEN n % 10 = 8 THEN 'Runnable' ELSE 'Suspended' END,
             n * 100, CASE WHEN n % 10 < 8 THEN n * 100 END,
             CASE WHEN n % 10 < 8 THEN CASE WHEN n % 500 = 0 THEN 'Failed' ELSE 'Succeeded' END END,
             CASE WHEN n % 100 = 1 THEN 'i5' END, CASE WHEN n % 100 = 1 THEN 'i5' END, n * 100,
             CASE WHEN n % 500 = 0 THEN n END, CASE WHEN n % 500 = 0 THEN 'k' || n % 3 END,
             n % 90 = 9, CASE WHEN n % 70 = 8 THEN n * 100 + 5 END, CASE WHEN n % 10 = 8 THEN n END, 'node' || n % 3, 1, 0, 1, n % 90 = 8, 0, 1, '{}'
        FROM generate_series(1, ${ROWS}) AS n;
      INSERT INTO "${schema.name}".wakes (id, owner, wake_at, under_way)
      SELECT id, owner, wake_at, under_way FROM "${schema.name}".instances WHERE wake_at IS NOT NULL OR under_way;
      ANALYZE "${schema.name}".instances; ANALYZE "${schema.name}".wakes;`);
  });
  afterAll(async () => {
    await store.stop();
    await schema.drop();
  });

  /** Runs an operation, and explains what it has sent. */
  async function plansOf(operate: () => Promise<unknown>): Promise<readonly string[]> {
    statements.length = 0;
    await operate();
    const plans: string[] = [];
    for (const { text, values } of statements) {
      if (/^(BEGIN|COMMIT)/.test(text)) continue;
      const { rows } = await schema.client.query<Record<'QUERY PLAN', string>>({
        text: `EXPLAIN ${qualify(text, schema.name)}`,
        values: [...values],
      });
      plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'));
    }
    return plans;
  }

  /** The most rows that a part of the last of these statements reads, when it is executed. */
  async function rowsRead(operate: () => Promise<unknown>, which = /./): Promise<number> {
    statements.length = 0;
    await operate();
    const { text, values } = statements.findLast((statement) => which.test(statement.text))!;
    const { rows } = await schema.client.query<{ 'QUERY PLAN': readonly { Plan: PlanNode }[] }>({
      text: `EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) ${qualify(text, schema.name)}`,
      values: [...values],
    });
    return mostRows(rows[0]!['QUERY PLAN'][0]!.Plan);
  }

  it.each(FILTERS)('reads little more than a page of a list: %j', async (filter) => {
    for (const after of [null, { time: 1_000_000, id: 'x' }]) {
      const page = { filter, after, limit: PAGE };
      expect(await rowsRead(() => store.listInstances(page))).toBeLessThan(MUCH_MORE_THAN_A_PAGE);
    }
  });

  it('reads no more rows for a tag when there are many tag names', async () => {
    await schema.client.query(`
      INSERT INTO "${schema.name}".terms (name, value, start_time, instance_id)
      SELECT 't' || n, 'sx', n % ${ROWS} * 100, 'i' || n % ${ROWS} FROM generate_series(1, ${NAMES}) AS n;
      ANALYZE "${schema.name}".terms;`);
    for (const operator of ['=', '!=', '<', '^='] as const) {
      for (const name of ['77', 'unknown']) {
        const where = [{ of: 'tag', name, operator, values: ['x'] }] as const;
        for (const more of [
          {},
          { definitionId: 'd1' },
          { status: 'Complete', startedFrom: 1 },
        ] as const) {
          const filter = { where, ...more };
          const page = { filter, after: null, limit: PAGE };
          const read = await rowsRead(() => store.listInstances(page));
          expect(read, JSON.stringify(filter)).toBeLessThan(MUCH_MORE_THAN_A_PAGE);
          const count = { filter, after: null, max: 10_001 };
          const counted = await rowsRead(() => store.countInstances(count));
          expect(counted, JSON.stringify(filter)).toBeLessThan(MUCH_MORE_THAN_A_PAGE);
        }
      }
    }
  });

  const REMOVAL = { removeActivities: ['x', 'y'] };
  const refused = (scope: ConflictScope, reference = 'r1') => ({
    record: instanceOf(`${scope} ${reference}`, { definitionId: 'd1', reference }),
    side: NO_SIDE,
    conflict: { action: 'refuse', scope } as const,
  });
  const queued = (reference: string) => ({
    record: instanceOf(`queued ${reference}`, { definitionId: 'd1', reference, queued: true }),
    side: NO_SIDE,
    conflict: { action: 'queue', queued: true } as const,
  });
  const inPlace = (place: 'held' | 'waiting', key = 'k1', maxQueued: number | null = 5) => ({
    record: instanceOf(`${place} ${key}`, {
      definitionId: 'd8',
      concurrencyKey: key,
      place,
      countsFrom: 9e9,
      queued: place === 'waiting',
    }),
    side: NO_SIDE,
    places: { limit: 5, maxQueued },
  });
  const grant = (key: string, limit: number) =>
    store.grantPlaces({ definitionId: 'd8', key, limit, asking: 'x', now: 1 });
  const placeOf = (reference: string) => ({ definitionId: 'd8', reference, id: 'x', at: 9e9 });
  const READS: readonly (readonly [string, () => Promise<unknown>])[] = [
    ['failed instances', () => store.countFailures({ filter: {}, now: 1, after: null })],
    [
      'instances by a text',
      () => store.findInstancesByText({ text: '4', values: [4, '4'], limit: 5 }),
    ],
    ['due instances', () => store.findDueInstances(1000, 20)],
    ['due instances after others', () => store.findDueInstances(9, 20, { wakeAt: 3, id: 'a' })],
    ['instances under way', () => store.findInstancesUnderWay('node1', 'i', 20)],
    ['changed instances', () => store.findChangedInstances('node1', { time: 2e6, id: 'i' }, 20)],
    ['an open instance with a reference', () => store.insertInstance(refused('open'))],
    ['a kept instance with a reference', () => store.insertInstance(refused('kept'))],
    ['the open instances before a queued one', () => store.insertInstance(queued('r1'))],
    ['the last instance before a place', () => store.findPredecessor(placeOf('r8'))],
    ['the places of a key', () => store.insertInstance(inPlace('held'))],
    ['those that wait for a place', () => store.insertInstance(inPlace('waiting'))],
    ['who gets a place', () => grant('k1', 5)],
    ['the line before one', () => store.countPlaces({ definitionId: 'd8', key: 'k1' }, 'i8')],
    ['the keys of those that wait', () => store.findWaitingKeys('d8', 'k', 20)],
    ['the first keys of those that wait', () => store.findWaitingKeys('d8', null, 20)],
    ['one instance', () => store.getInstance('i7')],
    ['the history', () => store.readHistory('i7', 0, 20)],
    ['audit entries', () => store.listAudit('i7')],
    ['a commit', () => store.commitInstance(commitOf(instanceOf('x')))],
    ['a claim', () => store.claimInstance({ id: 'x', epoch: 1, owner: 'o', suspected: false })],
    ['a message', () => store.postMessages([{ instanceId: 'x', message: { id: 'm', body: '' } }])],
    ['withdrawn items', () => store.withdrawActivities(['x', 'y'])],
    ['removed items', () => store.commitInstance(commitOf(instanceOf('x'), REMOVAL))],
    ['a control action', () => store.controlInstance('x', 'suspend', 1)],
  ];
  it.each(READS)('finds with an index: %s', async (_title, operate) => {
    for (const plan of await plansOf(operate)) {
      expect(plan).not.toMatch(/Seq Scan on (instances|wakes|history|activities|subscriptions)/);
    }
  });

  it('reads one of many instances that are kept with a reference', async () => {
    await schema.client.query(`
      INSERT INTO "${schema.name}".instances
        (id, definition_id, version, reference, status, start_time, end_time, outcome, last_change_at, epoch, in_seq, revision,
         under_way, crashes, schema_version, state)
      SELECT 'same' || n || d, d, 1, 'same', 'Complete', n, n, 'Succeeded', n, 1, 0, 1, false, 0, 1, '{}'
        FROM generate_series(1, 5000) AS n, (VALUES ('d1'), ('d2')) AS definitions (d);
      ANALYZE "${schema.name}".instances;`);
    for (const scope of ['open', 'kept'] as const) {
      const insert = () => store.insertInstance(refused(scope, 'same'));
      expect(await rowsRead(insert, /WHERE reference = /), scope).toBeLessThan(10);
    }
  });

  it('reads one of many instances that are open with a reference', async () => {
    await schema.client.query(`
      INSERT INTO "${schema.name}".instances
        (id, definition_id, version, reference, status, start_time, last_change_at, counts_from, queued, epoch, in_seq,
         revision, under_way, crashes, schema_version, state)
      SELECT 'open' || n || d, d, 1, 'open', 'Runnable', n, n, CASE WHEN n % 2 = 0 THEN 1e9 + n END, n % 2 = 1, 1, 0, 1, false, 0,
             1, '{}'
        FROM generate_series(1, 5000) AS n, (VALUES ('d1'), ('d8')) AS definitions (d);
      ANALYZE "${schema.name}".instances;`);
    const insert = () => store.insertInstance(queued('open'));
    expect(await rowsRead(insert, /counts_from DESC/)).toBeLessThan(10);
    for (const at of [5000, 1e9 + 2500, 9e9]) {
      const find = () => store.findPredecessor({ ...placeOf('open'), at });
      expect(await rowsRead(find, /counts_from DESC/), String(at)).toBeLessThan(10);
    }
  });

  it('reads few of many instances that hold a place or wait for one', async () => {
    await schema.client.query(`
      INSERT INTO "${schema.name}".instances
        (id, definition_id, version, status, start_time, last_change_at, counts_from, queued, concurrency_key, place, priority,
         epoch, in_seq, revision, under_way, crashes, schema_version, state)
      SELECT 'placed' || n || d, d, 1, CASE WHEN n % 9 = 0 THEN 'Suspended' ELSE 'Runnable' END, n, n, n, n % 2 = 1, 'k',
             CASE WHEN n % 2 = 1 THEN 'waiting' ELSE 'held' END, 1 + n % 5, 1, 0, 1, false, 0, 1, '{}'
        FROM generate_series(1, 5000) AS n, (VALUES ('d1'), ('d8')) AS definitions (d);
      ANALYZE "${schema.name}".instances;`);
    const READ: readonly (readonly [string, RegExp, () => Promise<unknown>])[] = [
      ['full', /instances/, () => store.insertInstance(inPlace('held', 'k'))],
      ['waits', /instances/, () => store.insertInstance(inPlace('waiting', 'k'))],
      ['grants nothing', /COUNT/, () => grant('k', 5)],
      ['grants', /'waiting'.* ORDER BY/s, () => grant('k', 2505)],
    ];
    for (const [what, statement, operate] of READ) {
      expect(await rowsRead(operate, statement), what).toBeLessThan(150);
    }
  });

  const EVENT_MESSAGE = { id: 'event/plan', body: '{}' };
  const RESULT = { succeeded: true, hash: 'h', data: 'null' };
  const COMPLETION = { activityId: 'x', tokenHash: 't', result: RESULT, now: 1 };
  const FREQUENT: readonly (readonly [string, () => Promise<unknown>])[] = [
    ['a start', () => store.insertInstance({ record: instanceOf('plan'), side: NO_SIDE })],
    ['a commit', () => store.commitInstance(commitOf(instanceOf('x')))],
    ['an event', () => store.insertEvent(eventOf('plan'), EVENT_MESSAGE)],
    ['a claim', () => store.claimActivity({ name: 'x', now: 1, claim: claimBy('w'), deferMs: 1 })],
    ['a result', () => store.completeActivity({ ...COMPLETION, message: EVENT_MESSAGE })],
    ['a message', () => store.postMessages([{ instanceId: 'x', message: EVENT_MESSAGE }])],
  ];
  it.each(FREQUENT)(
    'plans only the first executions of a prepared statement: %s',
    async (title, operate) => {
      statements.length = 0;
      await operate();
      const { text, values } = statements[0]!;
      const name = `often ${title}`;
      const statement = { name, text: qualify(text, schema.name), values: [...values] };
      for (let n = 0; n < 10; n += 1) await schema.client.query(statement);
      const { rows } = await schema.client.query<{ generic: string }>(
        'SELECT generic_plans AS generic FROM pg_prepared_statements WHERE name = $1',
        [name],
      );
      expect(Number(rows[0]?.generic)).toBeGreaterThan(0);
    },
  );

  const limits = {
    instancesEndedBefore: 0,
    untoldEndedBefore: 0,
    eventsPublishedBefore: 0,
    activitiesDoneBefore: 0,
  };
  const CHANGES_UP_TO_A_LIMIT: readonly (readonly [string, () => Promise<unknown>])[] = [
    ['old records', () => store.purge({ ...limits, limit: 100, keepsInstances: true })],
    ['a long history', () => removeLongHistory()],
    ['bulk jobs', () => store.purgeBulkJobs(0, 100)],
    ['resources', () => store.purgeResources(0, 100)],
    ['deliveries', () => store.purgeDeliveries(0, 100)],
    ['deliveries of a notification', () => store.removeDeliveries('n', 100)],
    [
      'due deliveries',
      () => store.claimDeliveries({ notification: 'n', now: 1, until: 2, limit: 100 }),
    ],
  ];
  it.each(CHANGES_UP_TO_A_LIMIT)(
    'finds the rows that it changes only once (PG9): %s',
    async (_title, operate) => {
      const plans = await plansOf(operate);
      const limited = plans.filter((plan) => /^(Delete|Update)/.test(plan) && /Limit/.test(plan));
      expect(limited).not.toEqual([]);
      for (const plan of limited) expect(plan).toContain('InitPlan');
    },
  );

  async function removeLongHistory(): Promise<void> {
    const record = instanceOf('long', { status: 'Complete', endTime: 1 });
    const history = Array.from({ length: 10_001 }, (_, sequence) => {
      return { instanceId: 'long', sequence, body: 's' };
    });
    await store.insertInstance({ record, side: { ...NO_SIDE, history } });
    await store.removeInstances([record]);
  }

  it('writes most commits as HOT updates, which change no index', async () => {
    await store.insertInstance({ record: instanceOf('hot'), side: NO_SIDE });
    const updates = async (): Promise<Updates> => {
      await schema.client.query('SELECT pg_stat_clear_snapshot()');
      const { rows } = await schema.client.query<{ all: string; hot: string }>(
        `SELECT n_tup_upd AS all, n_tup_hot_upd AS hot FROM pg_stat_user_tables
          WHERE schemaname = $1 AND relname = 'instances'`,
        [schema.name],
      );
      return { all: Number(rows[0]?.all), hot: Number(rows[0]?.hot) };
    };
    const before = await updates();
    const count = 100;
    for (let n = 0; n < count; n += 1) {
      const message = { id: `m${n}`, body: '{}' };
      await store.postMessages([{ instanceId: 'hot', message }]);
      const record = (await store.getInstance('hot'))!;
      const changes = {
        lastChangeAt: 2000 + n,
        wakeAt: n % 2 === 0 ? null : n,
        underWay: n % 3 === 0,
      };
      expect(await store.commitInstance(commitOf(record, changes))).toBe('committed');
    }
    // Sessions report their statistics about once a second.
    await expect
      .poll(async () => (await updates()).all - before.all, { timeout: 20_000 })
      .toBeGreaterThanOrEqual(2 * count);
    const after = await updates();
    expect(after.hot - before.hot).toBeGreaterThan(1.8 * count);
  });
});
