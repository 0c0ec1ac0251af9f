/**
 * PV1: other users of the machine can open nothing that the server writes.
 * Method: the modes of what a store, a seal and an archive create, beside files that an earlier version has left.
 */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createSeal } from '../../src/base/seal.js';
import { isOpenToOthers } from '../../src/base/private-files.js';
import { ARCHIVE_FILES } from '../../src/runtime/archive/archive-files.js';
import { storeAt } from '../../src/store/stores.js';
import type { Store } from '../../src/store/store.js';
import type { LogFields, Logger } from '../../src/base/logger.js';

let base: string;
beforeEach(() => {
  base = mkdtempSync(path.join(tmpdir(), 'stepwright-modes-'));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const modeOf = (file: string): string => (statSync(file).mode & 0o777).toString(8);

function collectingLogger(): { logger: Logger; warnings: string[] } {
  const warnings: string[] = [];
  const ignore = (): void => undefined;
  const logger: Logger = {
    trace: ignore,
    debug: ignore,
    info: ignore,
    error: ignore,
    fatal: ignore,
    warn: (fields: LogFields | string, message?: string) =>
      void warnings.push(message ?? JSON.stringify(fields)),
    child: () => logger,
  };
  return { logger, warnings };
}

async function open(dataDir: string): Promise<{ store: Store; warnings: readonly string[] }> {
  const { logger, warnings } = collectingLogger();
  const store = await storeAt(null).create({
    address: '',
    databaseName: '',
    dataDir,
    passwordFile: null,
    poolMax: 1,
    statementTimeoutMs: 1000,
    logger,
    onServerTime: () => undefined,
  });
  await store.start();
  return { store, warnings };
}

const names = ['stepwright.db', 'stepwright.db-wal', 'stepwright.db-shm'];

it('creates the data directory and the database for its own user only', async () => {
  const dataDir = path.join(base, 'above', 'data');
  const { store, warnings } = await open(dataDir);
  await store.saveResource(
    { kind: 'secret-key', name: 'a', revision: 1, expiresAt: null, body: 'b' },
    null,
  );
  expect([path.dirname(dataDir), dataDir].map(modeOf)).toEqual(['700', '700']);
  expect(names.map((name) => modeOf(path.join(dataDir, name)))).toEqual(['600', '600', '600']);
  expect(warnings).toEqual([]);
  await store.stop();
});

it('restricts files of an earlier version, and warns about a directory that others may list', async () => {
  const dataDir = path.join(base, 'data');
  mkdirSync(dataDir);
  chmodSync(dataDir, 0o755);
  const earlier = await open(dataDir);
  // As after a crash: all three are there.
  for (const name of names) chmodSync(path.join(dataDir, name), 0o644);
  const { store, warnings } = await open(dataDir);
  expect(names.map((name) => modeOf(path.join(dataDir, name)))).toEqual(['600', '600', '600']);
  expect(warnings).toEqual([expect.stringContaining(`chmod o= ${dataDir}`)]);
  expect(modeOf(dataDir)).toBe('755');
  await store.stop();
  await earlier.store.stop();
});

it("keeps the group's read permission that the operator has set", async () => {
  const dataDir = path.join(base, 'data');
  await (await open(dataDir)).store.stop();
  chmodSync(dataDir, 0o750);
  chmodSync(path.join(dataDir, 'stepwright.db'), 0o640);
  const { store, warnings } = await open(dataDir);
  expect(modeOf(path.join(dataDir, 'stepwright.db'))).toBe('640');
  expect(warnings).toEqual([]);
  await store.stop();
});

it('creates the sealing key and archives for its own user only', async () => {
  const keyFile = path.join(base, 'new', 'sealing-key');
  const seal = createSeal({ keyFile, creates: true });
  seal.seal('a', 'b');
  expect([path.dirname(keyFile), keyFile].map(modeOf)).toEqual(['700', '600']);
  expect(seal.isExposed()).toBe(false);
  chmodSync(keyFile, 0o644);
  expect(seal.isExposed()).toBe(true);
  const archive = path.join(base, 'archive.gz');
  await ARCHIVE_FILES.create(archive, Buffer.from('a'));
  expect(modeOf(archive)).toBe('600');
});

it('recognizes files that others may open', () => {
  const file = path.join(base, 'file');
  expect(isOpenToOthers(file)).toBe(false);
  writeFileSync(file, '');
  for (const [mode, isOpen] of [
    [0o600, false],
    [0o640, false],
    [0o604, true],
    [0o601, true],
  ] as const) {
    chmodSync(file, mode);
    expect(isOpenToOthers(file)).toBe(isOpen);
  }
});
