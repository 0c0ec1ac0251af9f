/** Contract cases: bulk jobs, their owners, and the ids of their instances. */
import { describe, expect, it } from 'vitest';
import type {
  BulkCollection,
  BulkJobRecord,
  BulkProgress,
} from '../../../src/store/records/bulk-jobs.js';
import type { Store } from '../../../src/store/store.js';
import type { StoreUnderTest } from '../conformance.js';
import { bulkJobOf } from '../records.js';

const CALLERS = 16;

const progressOf = (changes: Partial<BulkProgress> = {}): BulkProgress => ({
  jobId: 'b',
  epoch: 1,
  done: 0,
  skipped: 0,
  failed: 0,
  ...changes,
});

const collectionOf = (changes: Partial<BulkCollection> = {}): BulkCollection => ({
  jobId: 'b',
  epoch: 1,
  chunk: null,
  matched: 0,
  collectedTo: null,
  isCollected: false,
  ...changes,
});

/** The members that lists do not show. */
const NOT_LISTED: readonly string[] = ['collectedTo', 'failures', 'task'];

function summaryOf(job: BulkJobRecord): object {
  return Object.fromEntries(Object.entries(job).filter(([name]) => !NOT_LISTED.includes(name)));
}

export function describeBulkJobs(test: StoreUnderTest): void {
  const insert = (changes: Partial<BulkJobRecord> = {}, chunks: readonly string[] = []) =>
    test.store.insertBulkJob(
      bulkJobOf(changes.id ?? 'b', changes),
      chunks.map((ids, position) => ({ position, ids })),
    );
  const get = async (id = 'b') => (await test.store.getBulkJob(id))!;

  describe('a bulk job', () => {
    it('is stored with its ids, whatever text they contain', async () => {
      const long = 'é\u0000"'.repeat(20_000);
      const texts = { about: '\ud800', task: long, failures: '\u0001', collectedTo: '\u0000' };
      const job = bulkJobOf('é\ud800', { ...texts, requestHash: 'h', owner: 'node', matched: 3 });
      const chunks = [
        { position: 0, ids: '["a"]' },
        { position: 1, ids: long },
      ];
      expect(await test.store.insertBulkJob(job, chunks)).toEqual({ outcome: 'inserted' });
      expect(await get(job.id)).toEqual(job);
      expect(await test.store.readBulkIds(job.id, 0)).toBe('["a"]');
      expect(await test.store.readBulkIds(job.id, 1)).toBe(long);
      expect(await test.store.readBulkIds(job.id, 2)).toBeNull();
      expect(await test.store.readBulkIds('other', 0)).toBeNull();
      expect(await test.store.getBulkJob('other')).toBeNull();
    });

    it('is inserted once: a repeated insert changes nothing and returns the stored job', async () => {
      await insert({ requestHash: 'h', task: 'first' }, ['first']);
      const again = await insert({ requestHash: 'h2', task: 'second' }, ['second', 'more']);
      expect(again).toEqual({ outcome: 'exists', record: await get() });
      expect(await get()).toMatchObject({ task: 'first', requestHash: 'h' });
      expect(await test.store.readBulkIds('b', 0)).toBe('first');
      expect(await test.store.readBulkIds('b', 1)).toBeNull();
    });

    it('is listed by its start, newest first, in pages', async () => {
      for (const [id, startTime] of [
        ['a', 1],
        ['b', 3],
        ['c', 2],
        ['d', 3],
      ] as const) {
        await insert({ id, startTime });
      }
      const first = await test.store.listBulkJobs(null, 3);
      expect(first.map(({ id }) => id)).toEqual(['d', 'b', 'c']);
      expect(first[1]).toEqual(summaryOf(await get('b')));
      const after = (time: number, id: string) => test.store.listBulkJobs({ time, id }, 9);
      expect((await after(3, 'd')).map(({ id }) => id)).toEqual(['b', 'c', 'a']);
      expect((await after(2, 'c')).map(({ id }) => id)).toEqual(['a']);
    });

    it("is found while it's running, oldest first", async () => {
      await insert({ id: 'a', startTime: 2 });
      await insert({ id: 'b', startTime: 1 });
      await insert({ id: 'c', startTime: 0, state: 'Done', endTime: 5 });
      expect((await test.store.findRunningBulkJobs(9)).map(({ id }) => id)).toEqual(['b', 'a']);
      expect(await test.store.findRunningBulkJobs(1)).toEqual([summaryOf(await get('b'))]);
      await test.store.stopBulkJob('b', 6);
      await test.store.saveBulkProgress(progressOf({ jobId: 'a', endTime: 7 }));
      expect(await test.store.findRunningBulkJobs(9)).toEqual([]);
    });
  });

  describe('the owner of a bulk job', () => {
    it('is replaced by a claim with the current epoch while the job is running', async () => {
      await insert({ owner: 'one' });
      expect(await test.store.claimBulkJob('b', 2, 'two')).toBeNull();
      const claimed = await test.store.claimBulkJob('b', 1, 'two');
      expect(claimed).toEqual(bulkJobOf('b', { owner: 'two', epoch: 2 }));
      expect(claimed).toEqual(await get());
      await test.store.stopBulkJob('b', 5);
      expect(await test.store.claimBulkJob('b', 2, 'three')).toBeNull();
      expect(await test.store.claimBulkJob('other', 1, 'three')).toBeNull();
    });

    it(`is only one of ${CALLERS} callers that claim the job at the same time`, async () => {
      await insert();
      const other = await test.open();
      const claim = (store: Store, caller: number) => store.claimBulkJob('b', 1, `node ${caller}`);
      const claims = await Promise.all(
        Array.from({ length: CALLERS }, (_, n) => claim(n % 2 === 0 ? test.store : other, n)),
      );
      const winners = claims.filter((claimed) => claimed !== null);
      expect(winners).toEqual([await get()]);
      expect(winners[0]).toMatchObject({ epoch: 2 });
    });

    it("stores ids, which an earlier owner can't", async () => {
      await insert({ epoch: 1 });
      const store = (changes: Partial<BulkCollection>) =>
        test.store.collectBulkIds(collectionOf(changes));
      const first = { chunk: { position: 0, ids: 'first' }, matched: 1000, collectedTo: 'here' };
      expect(await store(first)).toBe(true);
      expect(await get()).toEqual(bulkJobOf('b', { matched: 1000, collectedTo: 'here' }));
      await test.store.claimBulkJob('b', 1, 'two');
      // What the new owner finds may differ from what the earlier one was about to store.
      const second = { epoch: 2, chunk: { position: 1, ids: 'two' }, matched: 1500 };
      expect(await store({ ...second, isCollected: true })).toBe(true);
      expect(await store({ chunk: { position: 1, ids: 'one' }, matched: 1900 })).toBe(false);
      expect(await get()).toMatchObject({ matched: 1500, isCollected: true, collectedTo: null });
      expect(await test.store.readBulkIds('b', 0)).toBe('first');
      expect(await test.store.readBulkIds('b', 1)).toBe('two');
    });

    it('stores no ids once the job has ended', async () => {
      await insert();
      await test.store.stopBulkJob('b', 5);
      const more = collectionOf({ chunk: { position: 0, ids: 'late' }, matched: 7 });
      expect(await test.store.collectBulkIds(more)).toBe(false);
      expect(await get()).toMatchObject({ matched: 0 });
    });

    it('stores its progress and ends the job', async () => {
      await insert({ owner: 'one', failures: 'none' });
      const save = (changes: Partial<BulkProgress>) =>
        test.store.saveBulkProgress(progressOf(changes));
      expect(await save({ done: 2, skipped: 1 })).toBe('Running');
      expect(await get()).toMatchObject({ done: 2, skipped: 1, failures: 'none', owner: 'one' });
      expect(await save({ done: 2, skipped: 1, failed: 1, failures: 'some' })).toBe('Running');
      expect(await save({ epoch: 2, done: 9 })).toBe('lost');
      expect(await save({ jobId: 'other' })).toBe('lost');
      expect(await save({ done: 3, skipped: 1, failed: 1, endTime: 50 })).toBe('Done');
      const end = { state: 'Done', endTime: 50, done: 3, skipped: 1, failed: 1 } as const;
      expect(await get()).toEqual(bulkJobOf('b', { ...end, owner: 'one', failures: 'some' }));
    });

    it('gives up the job', async () => {
      await insert({ owner: 'one' });
      await test.store.saveBulkProgress(progressOf({ done: 1, released: true }));
      expect(await get()).toMatchObject({ owner: null, done: 1, state: 'Running' });
    });
  });

  describe('stopping a bulk job', () => {
    it('ends the job, and still lets its owner store the finished work', async () => {
      await insert({ owner: 'one' });
      const stopped = await test.store.stopBulkJob('b', 40);
      expect(stopped).toEqual(bulkJobOf('b', { owner: 'one', state: 'Stopped', endTime: 40 }));
      const late = progressOf({ done: 4, endTime: 60 });
      expect(await test.store.saveBulkProgress(late)).toBe('Stopped');
      expect(await get()).toMatchObject({ state: 'Stopped', endTime: 40, done: 4 });
    });

    it('changes nothing if it has ended', async () => {
      await insert({ state: 'Done', endTime: 30 });
      expect(await test.store.stopBulkJob('b', 40)).toEqual(await get());
      expect(await get()).toMatchObject({ state: 'Done', endTime: 30 });
      expect(await test.store.stopBulkJob('other', 40)).toBeNull();
    });
  });

  describe('purging bulk jobs', () => {
    it('removes jobs that ended before a given time, with their ids, oldest first', async () => {
      for (const [id, endTime] of [
        ['new', 20],
        ['old', 10],
        ['older', 5],
      ] as const) {
        await insert({ id, state: 'Done', startTime: 1, endTime }, ['ids']);
      }
      await insert({ id: 'running', startTime: 1 }, ['ids']);
      expect(await test.store.purgeBulkJobs(20, 1)).toBe(1);
      expect(await test.store.getBulkJob('older')).toBeNull();
      expect(await test.store.purgeBulkJobs(20, 9)).toBe(1);
      expect(await test.store.readBulkIds('old', 0)).toBeNull();
      expect((await test.store.listBulkJobs(null, 9)).map(({ id }) => id)).toEqual([
        'running',
        'new',
      ]);
      expect(await test.store.readBulkIds('running', 0)).toBe('ids');
      expect(await test.store.readBulkIds('new', 0)).toBe('ids');
    });
  });
}
