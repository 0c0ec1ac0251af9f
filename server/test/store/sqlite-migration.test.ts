/** Goal: a file that an earlier version of the server wrote can be opened, and loses nothing. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { createSqliteStore } from '../../src/store/sqlite/sqlite-store.js';
import { bulkJobOf, claimBy, commitOf, eventOf, instanceOf, NO_SIDE } from './records.js';
import { expectSchemaOfNewFile, openOldFile } from './support/old-sqlite-files.js';

const directory = await mkdtemp(join(tmpdir(), 'stepwright-migration-'));
afterAll(() => rm(directory, { recursive: true }));

/** What the instance `open` of the old files has in every schema. */
const OPEN = {
  status: 'Suspended',
  wakeAt: 7,
  owner: 'node',
  epoch: 2,
  inSeq: 1,
  revision: 5,
  crashes: 1,
  requestHash: 'hash',
  state: '{"a":1}',
  inbox: [{ id: 'm', body: 'text' }],
} as const;

it('migrates a file of schema 1 to the current schema with all its content', async () => {
  const path = join(directory, 'old.db');
  const connection = await openOldFile(path, 1);
  connection.exec(`
    INSERT INTO instances VALUES
      ('open', 'order', 1, NULL, 'Suspended', 1000, NULL, 7, 'node', 2, 1, 5, 1, 1, 'hash', '{"a":1}'),
      ('ended', 'order', 1, 'r', 'Complete', 1000, 3000, NULL, NULL, 1, 0, 1, 0, 1, NULL, '{}');
    INSERT INTO inbox VALUES ('open', 'm', 1, 'text');
    INSERT INTO events VALUES ('e', 'paid/7', 'paid', '7', 1000, 2, NULL, 'null');
    INSERT INTO nodes VALUES ('n', 1, '', '1', 'h', 7);`);
  connection.close();

  const store = createSqliteStore({ path });
  await store.start();
  expect(await store.getInstance('open')).toEqual(
    instanceOf('open', {
      ...OPEN,
      lastChangeAt: 1000,
    }),
  );
  expect(await store.getInstance('ended')).toMatchObject({
    lastChangeAt: 3000,
    errorAt: null,
    outcome: 'Succeeded',
  });
  expect(await store.getEvent('e')).toEqual(eventOf('e', { deliveredTo: 2 }));
  await store.stop();
  await expectSchemaOfNewFile(path);
});

it('gives instances of schema 2 an outcome, and the parent in their state', async () => {
  const path = join(directory, 'old-2.db');
  const connection = await openOldFile(path, 2);
  const insert = connection.prepare(
    `INSERT INTO instances VALUES (?, 'order', 1, NULL, ?, 1000, ?, 2000, ?, NULL, NULL, 1, 0, 1, 0, 1, NULL, ?)`,
  );
  const child = JSON.stringify({ parent: { workflowId: 'open', pointerId: 1, attempt: 1 } });
  insert.run('open', 'Runnable', null, 1500, '{"parent":null}');
  insert.run('complete', 'Complete', 2000, null, child);
  insert.run('failed', 'Terminated', 2000, 2000, child);
  insert.run('ended', 'Terminated', 2000, null, '{}');
  insert.run('ended-by-ann', 'Terminated', 2000, 1900, 'unreadable');
  connection.exec(
    `INSERT INTO actions VALUES ('ended-by-ann', 1, '{"time":2000,"actor":"ann","action":"terminate","detail":null}')`,
  );
  connection.close();

  const store = createSqliteStore({ path });
  await store.start();
  const outcomes = await Promise.all(
    ['open', 'complete', 'failed', 'ended', 'ended-by-ann'].map(async (id) => {
      const record = await store.getInstance(id);
      return [record?.outcome, record?.parentId, record?.rootId];
    }),
  );
  expect(outcomes).toEqual([
    [null, null, null],
    ['Succeeded', 'open', 'open'],
    ['Failed', 'open', 'open'],
    ['Terminated', null, null],
    ['Terminated', null, null],
  ]);
  await store.stop();
  await expectSchemaOfNewFile(path);
});

it('keeps the content of instances of schema 2', async () => {
  const path = join(directory, 'kept-2.db');
  const connection = await openOldFile(path, 2);
  connection.exec(`
    INSERT INTO instances VALUES
      ('open', 'order', 1, NULL, 'Suspended', 1000, NULL, 1500, 1200, 7, 'node', 2, 1, 5, 1, 1, 'hash', '{"a":1}');
    INSERT INTO inbox VALUES ('open', 'm', 1, 'text');`);
  connection.close();

  const store = createSqliteStore({ path });
  await store.start();
  expect(await store.getInstance('open')).toEqual(
    instanceOf('open', {
      ...OPEN,
      lastChangeAt: 1500,
      errorAt: 1200,
    }),
  );
  await store.stop();
});

it('keeps the content of instances of schema 3, and counts them as children of their parents', async () => {
  const path = join(directory, 'old-3.db');
  const connection = await openOldFile(path, 3);
  connection.exec(`
    INSERT INTO instances (id, definitionId, version, reference, status, startTime, lastChangeAt, errorAt, wakeAt, owner, epoch,
                           inSeq, revision, underWay, crashes, schemaVersion, requestHash, state, parentId) VALUES
      ('open', 'order', 1, NULL, 'Suspended', 1000, 1500, 1200, 7, 'node', 2, 1, 5, 0, 1, 1, 'hash', '{"a":1}', NULL),
      ('child', 'order', 1, NULL, 'Runnable', 1000, 1500, NULL, NULL, NULL, 1, 0, 1, 0, 0, 1, NULL, '{}', 'open');
    INSERT INTO inbox VALUES ('open', 'm', 1, 'text');`);
  connection.close();

  const store = createSqliteStore({ path });
  await store.start();
  expect(await store.getInstance('open')).toEqual(
    instanceOf('open', { ...OPEN, lastChangeAt: 1500, errorAt: 1200 }),
  );
  expect(await store.getInstance('child')).toMatchObject({ parentId: 'open', rootId: 'open' });
  const message = { id: 'n', body: 'more' };
  const [posted] = await store.postMessages([{ instanceId: 'open', message }]);
  expect(posted).toMatchObject({ inSeq: 2 });
  await store.stop();
  await expectSchemaOfNewFile(path);
});

it('keeps the content of instances of schema 4, which have no input', async () => {
  const path = join(directory, 'schema-4.sqlite');
  const connection = await openOldFile(path, 4);
  connection.exec(`
    INSERT INTO instances (id, definitionId, version, status, startTime, lastChangeAt, epoch, inSeq, revision, underWay,
                           crashes, schemaVersion, state, reference, rootId, parentId)
      VALUES ('open', 'order', 1, 'Runnable', 1000, 1500, 1, 0, 1, 0, 0, 1, '{}', 'r', 'top', 'parent');
    INSERT INTO definitions VALUES ('order', 1, NULL, 5, '{}');`);
  connection.close();

  const store = createSqliteStore({ path });
  await store.start();
  const open = { reference: 'r', lastChangeAt: 1500, rootId: 'top', parentId: 'parent' };
  expect(await store.getInstance('open')).toEqual(instanceOf('open', open));
  expect(await store.getInput('open')).toBeNull();
  expect((await store.getDefinition('order', 1))?.disabled).toBe(false);
  await store.stop();
  await expectSchemaOfNewFile(path);
});

it('keeps the content of a schema 5 file, and adds the tables for bulk jobs', async () => {
  const path = join(directory, 'schema-5.sqlite');
  const connection = await openOldFile(path, 5);
  connection.exec(`
    INSERT INTO instances (id, definitionId, version, status, startTime, lastChangeAt, epoch, inSeq, revision, underWay,
                           crashes, schemaVersion, state, tags, input)
      VALUES ('open', 'order', 1, 'Runnable', 1000, 1000, 1, 0, 1, 0, 0, 1, '{}', '{"team":"a"}', '{"n":1}');
    INSERT INTO definitions VALUES ('order', 1, NULL, 5, '{}');
    INSERT INTO joined_starts VALUES ('key', 'hash', 'open');`);
  connection.close();

  const store = createSqliteStore({ path });
  await store.start();
  expect(await store.getInstance('open')).toEqual(instanceOf('open', { tags: { team: 'a' } }));
  expect(await store.getInput('open')).toBe('{"n":1}');
  expect((await store.getDefinition('order', 1))?.body).toBe('{}');
  expect(await store.getDefinitionSource('order', 1)).toBeNull();
  expect(await store.insertBulkJob(bulkJobOf('b'), [])).toEqual({ outcome: 'inserted' });
  const hourAgo = Date.now() - 3_600_000;
  await store.purge({
    instancesEndedBefore: hourAgo,
    untoldEndedBefore: hourAgo,
    eventsPublishedBefore: hourAgo,
    activitiesDoneBefore: hourAgo,
    limit: 10,
  });
  // What it answered was not kept, so it answers the run as it is.
  const repeated = { record: instanceOf('key', { requestHash: 'hash' }), side: NO_SIDE };
  expect(await store.insertInstance(repeated)).toMatchObject({
    outcome: 'joined-before',
    record: { id: 'open', tags: { team: 'a' } },
  });
  await store.stop();
  await expectSchemaOfNewFile(path);
});

it('keeps the content of instances of schema 5, which have no failure', async () => {
  const path = join(directory, 'kept-5.sqlite');
  const connection = await openOldFile(path, 5);
  connection.exec(`
    INSERT INTO instances (id, definitionId, version, status, startTime, lastChangeAt, errorAt, epoch, inSeq, revision, underWay,
                           crashes, schemaVersion, state, input)
      VALUES ('open', 'order', 1, 'Suspended', 1000, 1500, 1200, 1, 0, 1, 0, 0, 1, '{}', '{"n":1}');`);
  connection.close();

  const store = createSqliteStore({ path });
  await store.start();
  const open = { status: 'Suspended', lastChangeAt: 1500, errorAt: 1200, failure: null } as const;
  expect(await store.getInstance('open')).toEqual(instanceOf('open', open));
  expect(await store.getInput('open')).toBe('{"n":1}');
  const { counts } = await store.countFailures({ filter: {}, now: 2000, after: null });
  expect(counts).toEqual([]);
  await store.stop();
  await expectSchemaOfNewFile(path);
});

it('keeps the content of a schema 6 file, and adds an index for lists of one version', async () => {
  const path = join(directory, 'schema-6.sqlite');
  const connection = await openOldFile(path, 6);
  connection.exec(`
    INSERT INTO instances (id, definitionId, version, status, startTime, lastChangeAt, errorAt, failureKey, failure, epoch, inSeq,
                           revision, underWay, crashes, schemaVersion, state, input, tags)
      VALUES ('open', 'order', 3, 'Runnable', 1000, 1000, NULL, NULL, NULL, 1, 0, 1, 0, 0, 1, '{}', '{"n":1}', '{"team":"a"}');
    INSERT INTO terms VALUES ('t:team', 'sa', 1000, 'open');`);
  connection.close();

  const store = createSqliteStore({ path });
  await store.start();
  expect(await store.getInstance('open')).toEqual(
    instanceOf('open', { version: 3, tags: { team: 'a' } }),
  );
  expect(await store.getInput('open')).toBe('{"n":1}');
  const found = async (version: number): Promise<readonly string[]> => {
    const filter = { definitionId: 'order', version };
    const { items } = await store.listInstances({ filter, after: null, limit: 5 });
    return items.map(({ id }) => id);
  };
  expect([await found(3), await found(2)]).toEqual([['open'], []]);
  await store.stop();
  await expectSchemaOfNewFile(path);
});

it('keeps the content of a schema 10 file, while nodes of its version still write to it', async () => {
  const path = join(directory, 'schema-10.sqlite');
  const earlier = await openOldFile(path, 10);
  earlier.exec(`
    INSERT INTO instances (id, definitionId, version, status, startTime, lastChangeAt, errorAt, failureKey, failure, epoch, inSeq,
                           revision, underWay, crashes, schemaVersion, state)
      VALUES ('open', 'order', 1, 'Runnable', 1000, 1000, 1200, 'k', '["pay","T","m"]', 1, 0, 1, 0, 0, 1, '{}');`);

  const store = createSqliteStore({ path });
  await store.start();
  const failure = { key: 'k', stepId: 'pay', type: 'T', message: 'm' };
  const open = instanceOf('open', { errorAt: 1200, failure });
  const firstAt = async () => {
    const { counts } = await store.countFailures({ filter: {}, now: 2000, after: null });
    return counts.map((count) => count.firstAt);
  };
  expect(await store.getInstance('open')).toEqual(open);
  expect(await firstAt()).toEqual([1200]);
  const again = { errorAt: 1300, failingSince: 1200, failure };
  expect(await store.commitInstance(commitOf(open, again))).toBe('committed');
  expect(await firstAt()).toEqual([1200]);
  // What a node of the earlier version writes after another failure: it does not know the new columns.
  earlier.exec(
    `UPDATE instances SET errorAt = 1400, failureKey = 'l', failure = '["ship","T","m"]' WHERE id = 'open'`,
  );
  expect(await store.getInstance('open')).toMatchObject({ errorAt: 1400, failingSince: null });
  expect(await firstAt()).toEqual([1400]);
  earlier.close();
  await store.stop();
  await expectSchemaOfNewFile(path);
});

it('keeps the content of a schema 12 file, none of which is queued', async () => {
  const path = join(directory, 'schema-12.sqlite');
  const earlier = await openOldFile(path, 12);
  const insertOpen = (id: string, startTime: number) =>
    earlier.exec(`
      INSERT INTO instances (id, definitionId, version, reference, status, startTime, lastChangeAt, epoch, inSeq, revision,
                             underWay, crashes, schemaVersion, priority, state)
        VALUES ('${id}', 'order', 1, 'r', 'Runnable', ${startTime}, ${startTime}, 1, 0, 1, 0, 0, 1, 2, '{}');`);
  insertOpen('open', 1000);

  const store = createSqliteStore({ path });
  await store.start();
  const open = instanceOf('open', { reference: 'r', priority: 2 });
  expect(await store.getInstance('open')).toEqual(open);
  const next = instanceOf('next', { reference: 'r', startTime: 3000, queued: true });
  const conflict = { action: 'queue', queued: true } as const;
  const inserted = await store.insertInstance({ record: next, side: NO_SIDE, conflict });
  expect(inserted).toMatchObject({ outcome: 'inserted' });
  // What a node of the earlier version still starts counts like any other.
  insertOpen('other', 2000);
  expect(await store.getInstance('other')).toMatchObject({ queued: false, countsFrom: null });
  expect(await store.getInstance('other')).toMatchObject({ concurrencyKey: null, place: null });
  const held = { concurrencyKey: 'k', place: 'held', countsFrom: 3000 } as const;
  const places = { limit: 1, maxQueued: null };
  const first = { record: instanceOf('held', held), side: NO_SIDE, places };
  expect(await store.insertInstance(first)).toMatchObject({ outcome: 'inserted' });
  const second = { ...first, record: instanceOf('more', held) };
  expect(await store.insertInstance(second)).toEqual({ outcome: 'no-place', holders: ['held'] });
  const place = { definitionId: 'order', reference: 'r', id: 'next', at: 3000 };
  expect(await store.findPredecessor(place)).toBe('other');
  const page = { filter: { queued: true }, after: null, limit: 5 } as const;
  expect((await store.listInstances(page)).items).toMatchObject([{ id: 'next' }]);
  earlier.close();
  await store.stop();
  await expectSchemaOfNewFile(path);
});

it('keeps the items of a schema 13 file, none of which needs slots', async () => {
  const path = join(directory, 'schema-13.sqlite');
  const earlier = await openOldFile(path, 13);
  const insertItem = (id: string) =>
    earlier.exec(`
      INSERT INTO activities (id, instanceId, name, priority, createdAt, availableAt, deferred, attempt, done, settled, parameters)
        VALUES ('${id}', 'i', 'ship', 2, 1000, 1000, 0, 0, 0, 0, '{}');`);
  earlier.exec(`
    INSERT INTO instances (id, definitionId, version, status, startTime, lastChangeAt, epoch, inSeq, revision, underWay, crashes,
                           schemaVersion, state)
      VALUES ('i', 'order', 1, 'Runnable', 1000, 1000, 1, 0, 1, 0, 0, 1, '{}');`);
  insertItem('i/1');

  const store = createSqliteStore({ path });
  await store.start();
  const [item] = await store.getActivities(['i/1']);
  expect(item).toMatchObject({ name: 'ship', priority: 2, parameters: '{}' });
  expect(item).not.toHaveProperty('needs');
  // What a node of the earlier version still adds needs none either.
  insertItem('i/2');
  const body = JSON.stringify({ concurrency: 1 });
  const limit = { kind: 'limit', name: 'db', revision: 1, expiresAt: null, body } as const;
  await store.saveResource(limit, null);
  const record = (await store.getInstance('i'))!;
  const need = { limit: 'db', key: '', units: 1 };
  const slots = {
    take: [{ execution: 'i/3', needs: [need] as const }],
    wait: [],
    begun: [],
    free: [],
  };
  expect(await store.commitInstance(commitOf(record, { slots }))).toMatchObject({
    outcome: 'committed',
  });
  for (const id of ['i/1', 'i/2']) {
    const claim = { name: 'ship', now: 2000, claim: claimBy(id, 9000), deferMs: 1 };
    expect(await store.claimActivity(claim)).toMatchObject({ id });
  }
  expect(await store.countSlots(['db'], 2000)).toMatchObject([{ held: 1 }]);
  earlier.close();
  await store.stop();
  await expectSchemaOfNewFile(path);
});
