/**
 * Goal: a copy of a store holds everything that the original holds, whichever stores they are; a store that is in use or not
 * empty is not touched, and no server runs on part of a copy.
 * Method: a store with records of every kind is filled through the contract, copied, and both are read through the contract.
 */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MongoClient } from 'mongodb';
import { afterAll, describe, expect, it } from 'vitest';
import type { ArchiveImport, StoreArchive } from '../../src/store/archive.js';
import { CopyRefusedError, copyStore, type Tallies } from '../../src/store/copy-store.js';
import { openMongoArchive } from '../../src/store/mongo/archive/mongo-archive.js';
import { createMongoStore } from '../../src/store/mongo/mongo-store.js';
import { openPostgresArchive } from '../../src/store/postgres/archive/postgres-archive.js';
import { createPostgresStore } from '../../src/store/postgres/postgres-store.js';
import { openSqliteArchive } from '../../src/store/sqlite/archive/sqlite-archive.js';
import { createSqliteStore } from '../../src/store/sqlite/sqlite-store.js';
import type { Store } from '../../src/store/store.js';
import { mongoForTests } from '../support/mongo-container.js';
import { createTestDatabase, postgresForTests } from '../support/postgres-container.js';
import { activityOf, claimBy, deliveryOf, eventOf, instanceOf, NO_SIDE } from './records.js';
import { contentsOf, fillStore } from './support/filled-store.js';

/** A place for a store of one kind. */
interface Place {
  readonly createStore: () => Store;
  readonly openArchive: () => Promise<StoreArchive>;
}

const mongo = await mongoForTests();
const postgres = await postgresForTests();
const directory = await mkdtemp(join(tmpdir(), 'stepwright-copy-'));
const databases: string[] = [];
const schemas = new Set<string>();
const postgresDatabase = postgres === null ? null : await createTestDatabase(postgres.url);

afterAll(async () => {
  await rm(directory, { recursive: true });
  await postgresDatabase?.drop();
  if (mongo === null) return;
  const client = new MongoClient(mongo.url);
  for (const name of databases) await client.db(name).dropDatabase();
  await client.close();
});

function sqlitePlace(): Place & { readonly file: string } {
  const file = join(directory, `${randomUUID()}.db`);
  return {
    file,
    createStore: () => createSqliteStore({ path: file }),
    openArchive: () => Promise.resolve(openSqliteArchive(file)),
  };
}

function mongoPlace(): Place & { readonly databaseName: string } {
  const databaseName = `copy-${randomUUID()}`;
  databases.push(databaseName);
  const url = mongo?.url ?? '';
  return {
    databaseName,
    createStore: () => createMongoStore({ url, databaseName, operationTimeoutMs: 20_000 }),
    openArchive: () => openMongoArchive({ url, databaseName }),
  };
}

/** A schema of its own. */
function postgresPlace(): Place {
  const schema = `copy_${schemas.size}`;
  schemas.add(schema);
  const url = `${postgresDatabase?.url ?? ''}?schema=${schema}`;
  return {
    createStore: () => createPostgresStore({ url, operationTimeoutMs: 20_000, poolMax: 3 }),
    openArchive: () => openPostgresArchive({ url, databaseName: 'unused', passwordFile: null }),
  };
}

const PLACES: Readonly<Record<string, () => Place>> = {
  SQLite: sqlitePlace,
  ...(mongo !== null && { MongoDB: mongoPlace }),
  ...(postgres !== null && { PostgreSQL: postgresPlace }),
};
const pairs = Object.keys(PLACES)
  .flatMap((from) => Object.keys(PLACES).map((to) => ({ from, to })))
  .map((pair, index) => ({ ...pair, seed: index + 1 }));

async function withStore<Result>(
  place: Place,
  use: (store: Store) => Promise<Result>,
): Promise<Result> {
  const store = place.createStore();
  await store.start();
  try {
    return await use(store);
  } finally {
    await store.stop();
  }
}

type Spoil = (archive: StoreArchive) => StoreArchive;

async function copy(
  from: Place,
  to: Place,
  changes: { readonly spoilSource?: Spoil; readonly spoilTarget?: Spoil } = {},
): Promise<Tallies> {
  const same: Spoil = (archive) => archive;
  const archives = [await from.openArchive(), await to.openArchive()] as const;
  try {
    return await copyStore({
      source: (changes.spoilSource ?? same)(archives[0]),
      target: (changes.spoilTarget ?? same)(archives[1]),
      onProgress: () => undefined,
      watchMs: 20,
    });
  } finally {
    for (const archive of archives) await archive.close();
  }
}

describe.each(pairs)('a copy from $from to $to', ({ from, seed, to }) => {
  it('contains everything, and a copy back restores the original', async () => {
    const [source, target, back] = [PLACES[from]!(), PLACES[to]!(), PLACES[from]!()];
    const filled = await withStore(source, (store) => fillStore(store, seed));
    const tallies = await copy(source, target);
    expect(tallies.instance.records).toBe(filled.instanceIds.length);
    expect(tallies.event.records).toBe(filled.eventIds.length);
    for (const { records } of Object.values(tallies)) expect(records).toBeGreaterThan(0);
    expect(await copy(target, back)).toEqual(tallies);
    const expected = await withStore(source, (store) => contentsOf(store, filled));
    expect(await withStore(target, (store) => contentsOf(store, filled))).toEqual(expected);
  }, 120_000);
});

describe.each(Object.entries(PLACES))('a copy into %s', (_kind, placeOf) => {
  it("is refused if the target isn't empty", async () => {
    const [source, target] = [sqlitePlace(), placeOf()];
    await withStore(source, (store) => fillStore(store, 1));
    await withStore(target, (store) =>
      store.insertStepScript({ name: 's', source: 'pass', createdAt: 1 }),
    );
    await expect(copy(source, target)).rejects.toThrow(/^The target is not empty: /);
    const scripts = await withStore(target, (store) => store.listStepScripts(null, 9));
    expect(scripts.map(({ source: text }) => text)).toEqual(['pass']);
  });

  it('replaces an empty store', async () => {
    const [source, target] = [sqlitePlace(), placeOf()];
    const filled = await withStore(source, (store) => fillStore(store, 1));
    const dead = { id: 'old', url: '', version: '', hostname: 'h', pid: 1, details: null };
    await withStore(target, (store) => store.putNode({ ...dead, beatAt: 1 }));
    await copy(source, target);
    const { nodes, ids } = await withStore(target, async (store) => ({
      nodes: await store.listNodes(),
      ids: (await store.listInstances({ filter: {}, after: null, limit: 99 })).items,
    }));
    expect(nodes.map(({ id }) => id)).toEqual(['dead-1']);
    expect(ids).toHaveLength(filled.instanceIds.length);
  });

  it.each(['source', 'target'])('is refused while a server runs on the %s', async (which) => {
    const [source, target] = [sqlitePlace(), placeOf()];
    await withStore(source, (store) => fillStore(store, 1));
    const used = which === 'source' ? source : target;
    const node = { id: 'live', url: '', version: '', hostname: 'host', pid: 1, details: null };
    await withStore(used, async (store) => {
      let beatAt = 0;
      const beat = () => store.putNode({ ...node, beatAt: (beatAt += 1) });
      await beat();
      /** Its server writes a heartbeat after every look at it. */
      const watched = (archive: StoreArchive): StoreArchive => ({
        ...archive,
        listNodes: async () => {
          const nodes = await archive.listNodes();
          await beat();
          return nodes;
        },
      });
      const copied = copy(source, target, {
        [which === 'source' ? 'spoilSource' : 'spoilTarget']: watched,
      });
      await expect(copied).rejects.toThrow(/stop live \(host, process 1\)/);
      await expect(copied).rejects.toBeInstanceOf(CopyRefusedError);
    });
  });

  it('starts over after an interruption, which no server starts on', async () => {
    const [source, target] = [sqlitePlace(), placeOf()];
    const filled = await withStore(source, (store) => fillStore(store, 1));
    // As a process that is killed leaves it.
    const interrupted = await target.openArchive();
    const part = await interrupted.beginImport();
    const left = { name: 'left', version: 1, source: 'pass', createdAt: 1 };
    await part.write('stepScript', [left]);
    await interrupted.close();
    await expect(target.createStore().start()).rejects.toThrow(/unfinished copy/);
    await copy(source, target);
    const scripts = await withStore(target, (store) => store.listStepScripts(null, 99));
    expect(scripts.map(({ name }) => name)).not.toContain('left');
    const list = { filter: {}, after: null, limit: 99 };
    const instances = await withStore(
      target,
      async (store) => (await store.listInstances(list)).items,
    );
    expect(instances).toHaveLength(filled.instanceIds.length);
  });

  it.each<[string, (records: readonly object[]) => readonly object[]]>([
    ['a record is missing', (records) => records.slice(1)],
    ['a text differs', (records) => records.map((record) => ({ ...record, body: 'other' }))],
  ])('fails if %s, and no server starts on it', async (_what, spoilRecords) => {
    const [source, target] = [sqlitePlace(), placeOf()];
    await withStore(source, (store) => fillStore(store, 1));
    const spoil = (archive: StoreArchive): StoreArchive => ({
      ...archive,
      beginImport: async () => {
        const real = await archive.beginImport();
        const write: ArchiveImport['write'] = (kind, records) =>
          // Spoiled records are of the same kind.
          real.write(
            kind,
            (kind === 'history' ? spoilRecords(records) : records) as typeof records,
          );
        return { ...real, write };
      },
    });
    await expect(copy(source, target, { spoilTarget: spoil })).rejects.toThrow(
      /^The copy differs from the source: history: 48 records with checksum [0-9a-f]{32} were read/,
    );
    await expect(target.createStore().start()).rejects.toThrow(/unfinished copy/);
  });
});

describe.each(Object.entries(PLACES))('a source on %s', (_kind, placeOf) => {
  const CHANGES: readonly (readonly [string, (store: Store) => Promise<unknown>])[] = [
    ['a start', (store) => store.insertInstance({ record: instanceOf('new'), side: NO_SIDE })],
    [
      'a claim',
      (store) => store.claimInstance({ id: 'i', epoch: 1, owner: 'o', suspected: false }),
    ],
    [
      'a message',
      (store) => store.postMessages([{ instanceId: 'i', message: { id: 'm', body: '' } }]),
    ],
    ['an activity that was handed out', (store) => store.claimActivity(ACTIVITY_CLAIM)],
    ['a purge', (store) => store.purge(PURGE)],
    [
      'a start in place of a purged run',
      async (store) => {
        await store.purge(PURGE);
        await store.insertInstance({
          record: instanceOf('new', { lastChangeAt: 3000 }),
          side: NO_SIDE,
        });
      },
    ],
    ['a recorded action', (store) => store.appendAudit('i', ACTION)],
    ['a delivery to nobody', (store) => store.markEventsDelivered([deliveryOf('e', [])])],
  ];
  it.each(CHANGES)("isn't copied if %s happens during the copy", async (_change, change) => {
    const [source, target] = [placeOf(), sqlitePlace()];
    await withStore(source, async (store) => {
      const activities = [activityOf('i/1/0', 'i')];
      await store.insertInstance({ record: instanceOf('i'), side: { ...NO_SIDE, activities } });
      const ended = instanceOf('ended', { status: 'Complete', endTime: 1, outcome: 'Succeeded' });
      await store.insertInstance({ record: ended, side: NO_SIDE });
      await store.insertEvent(eventOf('e'));
    });
    /** A server starts when everything has been read, and stops before anybody looks for it. */
    const changed = (archive: StoreArchive): StoreArchive => ({
      ...archive,
      async *read(kind) {
        yield* archive.read(kind);
        if (kind === 'node') await withStore(source, change);
      },
    });
    await expect(copy(source, target, { spoilSource: changed })).rejects.toThrow(
      / has changed during the copy/,
    );
    await expect(target.createStore().start()).rejects.toThrow(/unfinished copy/);
  });
});

const ACTIVITY_CLAIM = { name: 'ship', now: 5000, claim: claimBy('worker'), deferMs: 1000 };
const ACTION = { time: 5000, actor: 'me', action: 'retry', detail: null } as const;
const PURGE = {
  instancesEndedBefore: 2,
  untoldEndedBefore: 2,
  eventsPublishedBefore: 2,
  activitiesDoneBefore: 2,
  limit: 10,
};

describe('the source of a copy', () => {
  it("is refused if it doesn't exist", async () => {
    await expect(copy(sqlitePlace(), sqlitePlace())).rejects.toBeInstanceOf(CopyRefusedError);
  });

  it.skipIf(mongo === null)("is refused if it's an unfinished copy itself", async () => {
    const source = mongoPlace();
    const archive = await source.openArchive();
    await archive.beginImport();
    await archive.close();
    await expect(copy(source, sqlitePlace())).rejects.toBeInstanceOf(CopyRefusedError);
  });

  it.skipIf(mongo === null)('leaves out records of missing instances', async () => {
    const [source, target] = [mongoPlace(), sqlitePlace()];
    await withStore(source, async (store) => {
      for (const id of ['i', 'gone']) {
        const activities = [activityOf(`${id}/1/0`, id)];
        await store.insertInstance({ record: instanceOf(id), side: { ...NO_SIDE, activities } });
      }
    });
    const client = new MongoClient(mongo!.url);
    const instances = client.db(source.databaseName).collection<{ _id: string }>('instances');
    await instances.deleteOne({ _id: 'gone' });
    await client.close();
    expect((await copy(source, target)).activity.records).toBe(1);
  });

  it('is read in batches of bounded size', async () => {
    const source = sqlitePlace();
    await withStore(source, async (store) => {
      for (let n = 0; n < 6; n += 1) {
        const record = instanceOf(`large-${n}`, { state: 'x'.repeat(3 << 20) });
        await store.insertInstance({ record, side: NO_SIDE });
      }
      await Promise.all(
        Array.from({ length: 1200 }, (_, n) =>
          store.insertStepScript({ name: `s${n}`, source: '', createdAt: 1 }),
        ),
      );
    });
    const archive = await source.openArchive();
    const sizes: number[] = [];
    for await (const batch of archive.read('instance')) sizes.push(batch.length);
    expect(sizes).toEqual([2, 2, 2]);
    sizes.length = 0;
    for await (const batch of archive.read('stepScript')) sizes.push(batch.length);
    expect(sizes).toEqual([500, 500, 200]);
    await archive.close();
  });
});
