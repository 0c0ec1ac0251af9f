/**
 * Goal: what the embedded store has acknowledged survives the death of its process, and processes share a file.
 * Method: real child processes that print what was acknowledged.
 */
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { createSqliteStore } from '../../src/store/sqlite/sqlite-store.js';
import type { Store } from '../../src/store/store.js';

const WRITER = fileURLToPath(new URL('./support/sqlite-writer.ts', import.meta.url));
const TSX = import.meta.resolve('tsx');
const ACKNOWLEDGED_BEFORE_KILL = 300;

const directory = await mkdtemp(join(tmpdir(), 'stepwright-processes-'));
afterAll(() => rm(directory, { recursive: true }));

interface WriterOptions {
  readonly path: string;
  readonly prefix: string;
  readonly count: number;
  readonly stateLength?: number;
  /** The process may write no file longer than this. */
  readonly fileBlocksMax?: number;
}

type Writer = ChildProcessByStdio<null, Readable, null>;

function startWriter(options: WriterOptions): { process: Writer; lines: AsyncIterable<string> } {
  const { path, prefix, count, stateLength = 10, fileBlocksMax } = options;
  const command = [process.execPath, '--import', TSX, WRITER, path, prefix, `${count}`];
  const limited =
    fileBlocksMax === undefined ? [] : ['sh', '-c', `ulimit -f ${fileBlocksMax}; exec "$@"`, 'sh'];
  const [program, ...args] = [...limited, ...command, `${stateLength}`];
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  return { process: child, lines: createInterface({ input: child.stdout }) };
}

async function runWriter(options: WriterOptions): Promise<readonly string[]> {
  const writer = startWriter(options);
  const lines: string[] = [];
  for await (const line of writer.lines) lines.push(line);
  return lines;
}

async function withStore<Result>(path: string, use: (store: Store) => Promise<Result>) {
  const store = createSqliteStore({ path });
  await store.start();
  try {
    return await use(store);
  } finally {
    await store.stop();
  }
}

describe('a SQLite store in another process', () => {
  it('keeps every acknowledged write when the process is killed (S1)', async () => {
    const path = join(directory, 'killed.db');
    const writer = startWriter({ path, prefix: 'k', count: 1_000_000 });
    const acknowledged: string[] = [];
    for await (const line of writer.lines) {
      const [word, id = ''] = line.split(' ');
      expect(word).toBe('ok');
      acknowledged.push(id);
      if (acknowledged.length === ACKNOWLEDGED_BEFORE_KILL) writer.process.kill('SIGKILL');
    }
    expect(acknowledged.length).toBeGreaterThanOrEqual(ACKNOWLEDGED_BEFORE_KILL);
    await withStore(path, async (store) => {
      for (const id of acknowledged) expect(await store.getInstance(id)).not.toBeNull();
      const latest = await store.getDefinition('shared', 'latest');
      expect(latest?.version).toBeGreaterThanOrEqual(acknowledged.length);
      const bodies = new Set<string>();
      for (let version = 1; version <= (latest?.version ?? 0); version += 1) {
        bodies.add((await store.getDefinition('shared', version))!.body);
      }
      for (const id of acknowledged) expect(bodies).toContain(id);
    });
  });

  it('shares the file with other writers', async () => {
    const path = join(directory, 'shared.db');
    const prefixes = ['a', 'b', 'c'];
    const outputs = await Promise.all(
      prefixes.map((prefix) => runWriter({ path, prefix, count: 100 })),
    );
    expect(outputs.flat().filter((line) => !line.startsWith('ok '))).toEqual([]);
    await withStore(path, async (store) => {
      // 300 consecutive versions, each with the body of another writer.
      expect((await store.getDefinition('shared', 'latest'))?.version).toBe(300);
      const bodies = new Set<string | undefined>();
      for (let version = 1; version <= 300; version += 1) {
        bodies.add((await store.getDefinition('shared', version))?.body);
      }
      expect(bodies.size).toBe(300);
    });
  });

  it('fails with a clear error when the disk is full, and keeps acknowledged writes', async () => {
    const path = join(directory, 'full.db');
    const lines = await runWriter({
      path,
      prefix: 'f',
      count: 200,
      stateLength: 100_000,
      fileBlocksMax: 8192,
    });
    const acknowledged = lines
      .filter((line) => line.startsWith('ok '))
      .map((line) => line.slice(3));
    const failures = lines.filter((line) => line.startsWith('failed '));
    expect(acknowledged.length).toBeGreaterThan(0);
    expect(failures.length).toBeGreaterThan(0);
    for (const failure of failures) {
      expect(failure).toMatch(/^failed StoreUnavailableError: The (disk is full|database file)/);
    }
    await withStore(path, async (store) => {
      for (const id of acknowledged) expect(await store.getInstance(id)).not.toBeNull();
    });
  });

  it('is closed when its process ends', async () => {
    const path = join(directory, 'ended.db');
    const writer = startWriter({ path, prefix: 'e', count: 3 });
    expect(await once(writer.process, 'exit')).toEqual([0, null]);
    await withStore(path, async (store) => {
      expect(await store.getInstance('e2')).not.toBeNull();
    });
  });
});
