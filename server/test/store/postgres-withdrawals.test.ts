/**
 * Goal: a withdrawal and the writes of others decide on an item as it is once it is locked.
 * Method: another session changes the item, and commits once the statement under test waits for its lock.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createPostgresStore } from '../../src/store/postgres/postgres-store.js';
import type { Store } from '../../src/store/store.js';
import { postgresForTests, valueOn } from '../support/postgres-container.js';
import { activityOf, claimBy, commitOf, instanceOf, NO_SIDE } from './records.js';
import { openTestSchema, type TestSchema } from './support/postgres-schema.js';

const postgres = await postgresForTests();
const NAME = 'withdrawals';
const WAITING = `
SELECT count(*)::int AS value FROM pg_stat_activity WHERE application_name = '${NAME}' AND wait_event_type = 'Lock'`;
const ID = 'i/1/0';

describe.skipIf(postgres === null)('an item that another session is changing', () => {
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
  beforeEach(() => schema.clear());
  afterAll(async () => {
    await store.stop();
    await schema.drop();
  });

  const offer = (claim?: ReturnType<typeof claimBy>) => {
    const activities = [activityOf(ID, 'i', claim === undefined ? {} : { claim })];
    return store.insertInstance({ record: instanceOf('i'), side: { ...NO_SIDE, activities } });
  };
  const item = async () => (await store.getActivities([ID]))[0];
  /** The change is committed while the call waits for it. */
  async function during<Result>(change: string, call: () => Promise<Result>): Promise<Result> {
    const { client, name } = schema;
    await client.query('BEGIN');
    await client.query(`UPDATE "${name}".activities SET ${change} WHERE id = '${ID}'`);
    const called = call();
    await expect.poll(() => valueOn(url, WAITING), { timeout: 20_000 }).toBe(1);
    await client.query('COMMIT');
    return called;
  }

  it('is withdrawn with the holder that the other session gives it', async () => {
    await offer();
    const [withdrawn] = await during(
      `token_hash = 'token-w', worker_id = 'w', attempt = 1, available_at = 9000`,
      () => store.withdrawActivities([ID]),
    );
    expect(withdrawn).toMatchObject({ tokenHash: 'token-w', availableAt: 9000, withdrawn: true });
    expect(await item()).toEqual(withdrawn);
  });

  it("isn't withdrawn if the other session completes it", async () => {
    await offer(claimBy('w'));
    const [done] = await during(
      `done = true, done_at = 5, succeeded = true, result_hash = 'h', result_data = '1'`,
      () => store.withdrawActivities([ID]),
    );
    expect(done).toMatchObject({ done: true, withdrawn: false });
    expect(await item()).toEqual(done);
  });

  it('leaves a mark for its holder if a commit removes it during the withdrawal', async () => {
    await offer(claimBy('w'));
    const removal = commitOf(instanceOf('i'), { removeActivities: [ID] });
    expect(await during('settled = true', () => store.commitInstance(removal))).toBe('committed');
    expect(await item()).toMatchObject({ done: true, withdrawn: true });
  });

  it("isn't handed out if it's withdrawn at that moment", async () => {
    await offer();
    const { client, name } = schema;
    await client.query('BEGIN');
    await client.query(`UPDATE "${name}".activities SET settled = true WHERE id = '${ID}'`);
    const request = { name: 'ship', now: 2000, claim: claimBy('w'), deferMs: 10 };
    expect(await store.claimActivity(request)).toBeNull();
    await client.query('COMMIT');
    expect(await store.claimActivity(request)).toBeNull();
  });
});
