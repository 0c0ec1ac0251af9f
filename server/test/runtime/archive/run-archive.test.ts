/**
 * Goal: an instance is in the archive before it is removed, and every file is valid gzip, wherever the process dies.
 * Method: real files, and a "process" that dies at the n-th operation on them or on the store, for every n; a write that is
 * interrupted has written half of its bytes.
 */
import { mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createLogger } from '../../../src/base/logger.js';
import { ARCHIVE_FILES, type ArchiveFiles } from '../../../src/runtime/archive/archive-files.js';
import { RunArchive } from '../../../src/runtime/archive/run-archive.js';
import type { InstanceExport } from '../../../src/runtime/operations/instance-exports.js';
import { Housekeeping } from '../../../src/runtime/housekeeping/housekeeping.js';
import { createMemoryStore } from '../../../src/store/memory/memory-store.js';
import type { Store } from '../../../src/store/store.js';
import { instanceOf, NO_SIDE } from '../../store/records.js';
import { ManualClock } from '../support/manual-clock.js';

const COUNT = 7;
/** Long enough for several writes of compressed text. */
const LONG_ID = 'i3';

let directory: string;
let store: Store;
let clock: ManualClock;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'stepwright-archive-'));
  store = createMemoryStore();
  clock = new ManualClock();
  for (let n = 0; n < COUNT; n += 1) await insert(`i${n}`);
});

afterEach(() => rm(directory, { recursive: true, force: true }));

async function insert(id: string): Promise<void> {
  const record = instanceOf(id, { status: 'Complete', endTime: 1, retentionMs: 5 });
  await store.insertInstance({ record, side: NO_SIDE });
}

/** What a process can do until it dies. */
interface Life {
  operations: number;
  readonly diesAt: number;
}

async function act<Value>(life: Life, run: () => Promise<Value>, half?: () => Promise<unknown>) {
  life.operations += 1;
  if (life.operations === life.diesAt) await half?.();
  if (life.operations >= life.diesAt) throw new Error('the process is dead');
  return run();
}

function mortal(life: Life): ArchiveFiles {
  return {
    open: (path) =>
      act(life, async () => {
        const file = await ARCHIVE_FILES.open(path);
        if (file === null) return null;
        return {
          size: () => act(life, () => file.size()),
          write: (bytes, at) =>
            act(
              life,
              () => file.write(bytes, at),
              () => file.write(bytes.subarray(0, Math.ceil(bytes.length / 2)), at),
            ),
          truncate: (size) => act(life, () => file.truncate(size)),
          sync: () => act(life, () => file.sync()),
          close: () => file.close(),
        };
      }),
    create: (path, content) => act(life, () => ARCHIVE_FILES.create(path, content)),
  };
}

/** Does not compress well. */
function noise(length: number): string {
  let text = '';
  for (let n = 1; text.length < length; n += 1) text += Math.sin(n).toString(36).slice(3);
  return text;
}

interface Faults {
  readonly life?: Life;
  readonly files?: ArchiveFiles;
  readonly unreadable?: string;
}

function startNode(nodeId: string, { files, life, unreadable }: Faults = {}) {
  const own = life ?? { operations: 0, diesAt: Infinity };
  const counts = { archived: 0, failed: 0, removed: 0 };
  const metrics = {
    instancesArchived: (count: number) => (counts.archived += count),
    archiveFailed: () => (counts.failed += 1),
    instancesRemoved: (_reason: string, count: number) => (counts.removed += count),
  };
  const logger = createLogger({ level: 'fatal' });
  const archive = new RunArchive({
    directory,
    nodeId,
    files: files ?? mortal(own),
    clock,
    logger,
    metrics,
    exports: { export: (id, write) => write({ instance: { id } } as unknown as InstanceExport) },
    textOf: async function* ({ instance: { id } }) {
      yield `{"workflowId":"${id}","text":"`;
      if (id === LONG_ID) yield noise(200_000);
      await Promise.resolve();
      if (id === unreadable) throw new Error('the state is broken');
      yield '"}';
    },
  });
  const housekeeping = new Housekeeping({
    store: {
      ...store,
      removeInstances: (ended) => act(own, () => store.removeInstances(ended)),
    },
    clock,
    logger,
    metrics,
    archive,
    isChosen: () => true,
    isArchivedElsewhere: () => false,
    publisher: null as never,
    results: null as never,
    instanceRetentionMs: 1e9,
    eventRetentionMs: 1e9,
    repairIntervalMs: 1e9,
    purgeIntervalMs: 1e9,
  });
  return { purge: () => housekeeping.purge(), counts };
}

async function archived(): Promise<readonly string[]> {
  const names = (await readdir(directory)).filter((name) => name.endsWith('.gz'));
  const texts = await Promise.all(
    names.map(async (name) => gunzipSync(await readFile(join(directory, name))).toString()),
  );
  return texts.flatMap((text) => {
    if (text === '') return [];
    expect(text.endsWith('\n')).toBe(true);
    return text
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as { workflowId: string }).workflowId);
  });
}

async function stored(): Promise<readonly string[]> {
  const { items } = await store.listInstances({ filter: {}, after: null, limit: 100 });
  return items.map(({ id }) => id);
}

const ALL = Array.from({ length: COUNT }, (_, n) => `i${n}`);

it('archives every instance once, and then removes it', async () => {
  const { counts, purge } = startNode('n1');
  await purge();
  expect((await archived()).toSorted()).toEqual(ALL);
  expect(await stored()).toEqual([]);
  expect(counts).toEqual({ archived: COUNT, failed: 0, removed: COUNT });
  const day = new Date(clock.now()).toISOString().slice(0, 10);
  expect(await readdir(directory)).toEqual([`${day}-n1.ndjson.gz`]);
});

it('has every removed instance in the archive, wherever the process dies', async () => {
  let deaths = 0;
  for (let diesAt = 1; ; diesAt += 1) {
    for (const id of ALL) await insert(id);
    await rm(directory, { recursive: true });
    directory = await mkdtemp(join(tmpdir(), 'stepwright-archive-'));
    const life = { operations: 0, diesAt };
    const { purge } = startNode('n1', { life });
    const survived = await purge().then(
      () => true,
      () => false,
    );
    const kept = new Set(await stored());
    const safe = new Set(await archived());
    expect(
      ALL.filter((id) => !kept.has(id) && !safe.has(id)),
      `died at ${diesAt}`,
    ).toEqual([]);
    await startNode('n2').purge();
    expect(await stored()).toEqual([]);
    expect([...new Set(await archived())].toSorted(), `died at ${diesAt}`).toEqual(ALL);
    if (survived) break;
    deaths += 1;
  }
  expect(deaths).toBeGreaterThan(10);
});

it('removes nothing while the disk is full, and continues in the same file afterwards', async () => {
  let isFull = false;
  const life = { operations: 0, diesAt: Infinity };
  const files: ArchiveFiles = {
    ...ARCHIVE_FILES,
    open: async (path) => {
      const file = await mortal(life).open(path);
      if (file === null) return null;
      return {
        ...file,
        write: async (bytes, at) => {
          if (isFull && at > 300) throw Object.assign(new Error('no space'), { code: 'ENOSPC' });
          await file.write(bytes, at);
        },
      };
    },
  };
  const { counts, purge } = startNode('n1', { files });
  await purge();
  for (const id of ['later', 'latest', LONG_ID]) await insert(id);
  isFull = true;
  await expect(purge()).rejects.toThrow('no space');
  await expect(purge()).rejects.toThrow('no space');
  expect(counts).toMatchObject({ failed: 2, removed: COUNT });
  expect(await stored()).toHaveLength(3);
  expect((await archived()).toSorted()).toEqual(ALL);
  isFull = false;
  await purge();
  expect((await archived()).toSorted()).toEqual([...ALL, LONG_ID, 'later', 'latest'].toSorted());
  expect(await stored()).toEqual([]);
  expect(await readdir(directory)).toHaveLength(1);
});

it('removes nothing while the directory is missing', async () => {
  await rm(directory, { recursive: true });
  const { counts, purge } = startNode('n1');
  await expect(purge()).rejects.toThrow('ENOENT');
  expect(counts).toEqual({ archived: 0, failed: 1, removed: 0 });
  expect(await stored()).toHaveLength(COUNT);
});

it('keeps an instance that cannot be exported, and archives the others', async () => {
  const { counts, purge } = startNode('n1', { unreadable: LONG_ID });
  await purge();
  await purge();
  expect(await stored()).toEqual([LONG_ID]);
  expect((await archived()).toSorted()).toEqual(ALL.filter((id) => id !== LONG_ID));
  expect(counts).toEqual({ archived: COUNT - 1, failed: 1, removed: COUNT - 1 });
});

it('begins a new file each day, and when the file has been moved away', async () => {
  const { purge } = startNode('n1');
  await purge();
  const [first] = await readdir(directory);
  await rename(join(directory, first!), join(directory, 'moved.ndjson.gz'));
  await insert('a');
  await purge();
  clock.advance(86_400_000);
  await insert('b');
  await purge();
  expect(await readdir(directory)).toHaveLength(3);
  expect((await archived()).toSorted()).toEqual(['a', 'b', ...ALL]);
});
