/**
 * Goal: a start that is refused changes nothing, also if it would have terminated open instances.
 * Method: another session holds the row of the open instance until the definition is disabled, in the middle of the start.
 */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPostgresStore } from '../../src/store/postgres/postgres-store.js';
import type { Store } from '../../src/store/store.js';
import { postgresForTests, valueOn } from '../support/postgres-container.js';
import { instanceOf, NO_SIDE } from './records.js';
import { openTestSchema, type TestSchema } from './support/postgres-schema.js';

const postgres = await postgresForTests();
const NAME = 'starts';
const WAITING = `
SELECT count(*)::int AS value FROM pg_stat_activity WHERE application_name = '${NAME}' AND wait_event_type = 'Lock'`;

describe.skipIf(postgres === null)('a start with the conflict rule terminate', () => {
  const url = postgres?.url ?? '';
  let schema: TestSchema;
  let store: Store;
  beforeAll(async () => {
    schema = await openTestSchema(url);
    const address = new URL(schema.url);
    address.searchParams.set('application_name', NAME);
    store = createPostgresStore({ url: address.href, operationTimeoutMs: 60_000 });
    await store.start();
  });
  afterAll(async () => {
    await store.stop();
    await schema.drop();
  });

  it('terminates nothing if the definition is disabled before it inserts', async () => {
    const definition = { id: 'order', description: null, body: '{}', createdAt: 1 };
    await store.insertDefinition(definition, null);
    const open = instanceOf('open', { reference: 'r' });
    await store.insertInstance({ record: open, side: NO_SIDE });
    const holder = new pg.Client({ connectionString: url });
    await holder.connect();
    try {
      await holder.query('BEGIN');
      await holder.query(`SELECT FROM "${schema.name}".instances WHERE id = 'open' FOR UPDATE`);
      const audit = { time: 5000, actor: 'ada', action: 'terminate', detail: null } as const;
      const refused = store.insertInstance({
        record: instanceOf('new', { reference: 'r' }),
        side: NO_SIDE,
        conflict: { action: 'terminate', audit },
      });
      await expect.poll(() => valueOn(url, WAITING), { timeout: 20_000 }).toBe(1);
      await store.setDefinitionDisabled('order', true);
      await holder.query('ROLLBACK');
      expect(await refused).toEqual({ outcome: 'disabled' });
    } finally {
      await holder.end();
    }
    expect(await store.getInstance('open')).toEqual(open);
    expect(await store.listAudit('open')).toEqual([]);
    expect(await store.getInstance('new')).toBeNull();
  });
});
