/** Goal: a file that an earlier version of the server wrote can be opened, and none of its content has a fairness key. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { createSqliteStore } from '../../src/store/sqlite/sqlite-store.js';
import { claimBy, instanceOf } from './records.js';
import { expectSchemaOfNewFile, openOldFile } from './support/old-sqlite-files.js';

const directory = await mkdtemp(join(tmpdir(), 'stepwright-migration-'));
afterAll(() => rm(directory, { recursive: true }));

/** What schema 15 has more than schema 14. */
const TO_15 = `
  ALTER TABLE instances ADD COLUMN debounceKey TEXT;
  CREATE INDEX instances_window ON instances (definitionId, debounceKey)
    WHERE debounceKey IS NOT NULL AND status IN ('Runnable', 'Suspended');
  PRAGMA user_version = 15;
`;

it.each([
  [14, ''],
  [15, TO_15],
])(
  'keeps the content of a schema %i file, none of which has a fairness key',
  async (version, changes) => {
    const path = join(directory, `schema-${version}.sqlite`);
    const earlier = await openOldFile(path, 14);
    earlier.exec(changes);
    const insertItem = (id: string) =>
      earlier.exec(`
      INSERT INTO activities (id, instanceId, name, priority, createdAt, availableAt, deferred, attempt, done, settled, parameters)
        VALUES ('${id}', 'i', 'ship', 2, 1000, 1000, 0, 0, 0, 0, '{}');`);
    earlier.exec(`
    INSERT INTO instances (id, definitionId, version, status, startTime, lastChangeAt, epoch, inSeq, revision, underWay, crashes,
                           schemaVersion, state)
      VALUES ('i', 'order', 1, 'Runnable', 1000, 1000, 1, 0, 1, 0, 0, 1, '{}');
    INSERT INTO slot_waits (execution, limitName, limitKey, instanceId, priority, since, state, at, needs)
      VALUES ('i/3', 'db', '', 'i', 3, 1000, 'waiting', 0, '[{"limit":"db","key":"","units":1}]');`);
    insertItem('i/1');

    const store = createSqliteStore({ path });
    await store.start();
    // What a node of the earlier version still adds has none either.
    insertItem('i/2');
    expect(await store.getInstance('i')).toEqual(instanceOf('i', { schemaVersion: 1 }));
    const body = JSON.stringify({ concurrency: 1 });
    const limit = { kind: 'limit', name: 'db', revision: 1, expiresAt: null, body } as const;
    await store.saveResource(limit, null);
    const granted = await store.grantSlots({ limit: 'db', key: '', now: 2000, aheadMs: 0 });
    expect(granted.begin).toMatchObject([{ execution: 'i/3' }]);
    for (const id of ['i/1', 'i/2']) {
      const claim = { name: 'ship', now: 2000, claim: claimBy(id, 9000), deferMs: 1 };
      const claimed = await store.claimActivity(claim);
      expect(claimed).toMatchObject({ id });
      expect(claimed).not.toHaveProperty('fairness');
    }
    earlier.close();
    await store.stop();
    await expectSchemaOfNewFile(path);
  },
);
