/**
 * Goal: a claim of a name whose items have fairness keys reads few rows, however many items and keys there are, and other claims read
 * what they did.
 * Method: a schema with many items, and EXPLAIN ANALYZE of the statements that the store has sent.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPostgresStore } from '../../src/store/postgres/postgres-store.js';
import type { Store } from '../../src/store/store.js';
import { postgresForTests } from '../support/postgres-container.js';
import { claimBy } from './records.js';
import { openTestSchema, type TestSchema } from './support/postgres-schema.js';

const postgres = await postgresForTests();
const ITEMS = 20_000;
const KEYS = 500;

interface PlanNode {
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly PlanNode[];
}

/** The most items that a part of the plan reads. */
function rowsOf(node: PlanNode): number {
  const each = node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0);
  const own = node['Relation Name'] === 'activities' ? each * node['Actual Loops'] : 0;
  return Math.max(own, ...(node.Plans ?? []).map(rowsOf));
}

describe.skipIf(postgres === null)('turns on PostgreSQL with many items', () => {
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
    const insert = (name: string, key: string) => `
      INSERT INTO "${schema.name}".activities (id, instance_id, name, priority, fairness_key, created_at, available_at, deferred,
                                               attempt, done, settled, parameters)
      SELECT '${name}' || n, 'i', '${name}', 3, ${key}, n, n, false, 0, false, false, '{}' FROM generate_series(1, ${ITEMS}) AS n;`;
    await schema.client.query(`
      INSERT INTO "${schema.name}".instances (id, definition_id, version, status, start_time, last_change_at, epoch, in_seq,
                                              revision, under_way, crashes, schema_version, state)
      VALUES ('i', 'd', 1, 'Runnable', 1, 1, 1, 0, 1, false, 0, 1, '{}');
      ${insert('fair', `'k' || n % ${KEYS}`)} ${insert('plain', `''`)}
      INSERT INTO "${schema.name}".turns (queue, priority, fairness_key, turn, present, since)
      SELECT 'items/fair', 3, 'k' || n, 0, 0, n FROM generate_series(0, ${KEYS - 1}) AS n
      UNION ALL SELECT 'items/fair', 3, '', 0, 0, 0;
      ANALYZE "${schema.name}".activities; ANALYZE "${schema.name}".turns;`);
  });
  afterAll(async () => {
    await store.stop();
    await schema.drop();
  });

  const qualify = (text: string): string => text.replaceAll(/@(?=[a-z])/g, `"${schema.name}".`);

  /** Claims an item, and tells how many rows a part of this statement reads at most. */
  async function rowsRead(name: string, which: RegExp): Promise<number> {
    statements.length = 0;
    const now = ITEMS + 1;
    const claim = { name, now, claim: claimBy('w', 9 * ITEMS), deferMs: 1 };
    expect(await store.claimActivity(claim)).toMatchObject({ name });
    const { text, values } = statements.findLast((statement) => which.test(statement.text))!;
    await schema.client.query('BEGIN');
    const { rows } = await schema.client.query<{ 'QUERY PLAN': readonly { Plan: PlanNode }[] }>({
      text: `EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) ${qualify(text)}`,
      values: [...values],
    });
    await schema.client.query('ROLLBACK');
    return rowsOf(rows[0]!['QUERY PLAN'][0]!.Plan);
  }

  it('tries one key after another', async () => {
    for (let n = 0; n < 5; n += 1) {
      expect(await rowsRead('fair', /CROSS JOIN LATERAL/)).toBeLessThan(20);
    }
  });

  it('finds at once that a name has no keys, with the statement that claims', async () => {
    expect(await rowsRead('plain', /fair AS MATERIALIZED/)).toBeLessThan(20);
    expect(statements.map(({ text }) => text).filter((text) => /turns/.test(text))).toEqual([]);
    expect(statements).toHaveLength(1);
  });
});
