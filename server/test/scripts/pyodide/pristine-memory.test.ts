/**
 * SI2: restoring gives exactly the memory that was sealed, although only its differences from the snapshot are kept.
 *
 * Random memories and snapshots first, then a booted interpreter, byte by byte.
 */
import {
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { bootPython, makeSnapshot } from '../../../src/scripts/pyodide/boot-python.js';
import { findPyodideFolder, RUNNER_PATH } from '../../../src/scripts/pyodide/child-command.js';
import { PristineMemory, type MemorySource } from '../../../src/scripts/pyodide/pristine-memory.js';
import { SealedInterpreter } from '../../../src/scripts/pyodide/sealed-interpreter.js';
import { SnapshotFile } from '../../../src/scripts/pyodide/snapshot-file.js';

const CHUNK = 16_384;
const HEADER = 128;
const LONG_AGO = new Date('2020-01-01');

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'stepwright-memory-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function storeSnapshot(memory: Uint8Array): string {
  const path = join(folder, 'snapshot.bin');
  writeFileSync(path, Buffer.concat([Buffer.alloc(HEADER, 7), memory]));
  utimesSync(path, LONG_AGO, LONG_AGO);
  return path;
}

/** What is written, and where: short texts, and whole parts that are zero. */
const writes = (bytes: number): fc.Arbitrary<readonly { at: number; content: Uint8Array }[]> =>
  fc.array(
    fc.record({
      at: fc.nat(bytes - 1),
      content: fc.oneof(
        fc.uint8Array({ minLength: 1, maxLength: 300 }),
        fc.nat(2 * CHUNK).map((length) => new Uint8Array(length)),
      ),
    }),
    { maxLength: 12 },
  );

function write(memory: ArrayBuffer, changes: readonly { at: number; content: Uint8Array }[]): void {
  const bytes = new Uint8Array(memory);
  for (const { at, content } of changes) bytes.set(content.subarray(0, bytes.length - at), at);
}

describe('PristineMemory', () => {
  const BYTES = 8 * CHUNK;

  it('restores any memory from a file with an earlier state of it, also after it has grown', () => {
    const grown = fc.integer({ min: 0, max: 2 }).map((chunks) => chunks * CHUNK);
    const property = fc.property(
      fc.tuple(writes(BYTES), writes(BYTES), writes(BYTES), grown, grown),
      ([before, sealing, after, grownBefore, grownAfter]) => {
        const memory = new ArrayBuffer(BYTES + grownBefore);
        write(memory, before);
        const file = new SnapshotFile(storeSnapshot(new Uint8Array(memory, 0, BYTES)));
        write(memory, sealing);
        const sealed = Buffer.from(memory.slice(0));
        const pristine = new PristineMemory(memory, file.memoryAt(HEADER));
        const used = new ArrayBuffer(memory.byteLength + grownAfter);
        new Uint8Array(used).set(sealed);
        write(used, after);
        new Uint8Array(used).fill(1, memory.byteLength);
        pristine.restore(used);
        expect(Buffer.from(used, 0, sealed.length).equals(sealed)).toBe(true);
        expect(new Uint8Array(used, sealed.length).every((byte) => byte === 0)).toBe(true);
      },
    );
    fc.assert(property, { numRuns: 60 });
  });

  it('keeps only the words that have changed since the snapshot', () => {
    const memory = new ArrayBuffer(BYTES);
    new Uint8Array(memory).fill(5);
    const file = new SnapshotFile(storeSnapshot(new Uint8Array(memory)));
    new Int32Array(memory)[100] = -1;
    new Int32Array(memory)[20_000] = 0;
    expect(new PristineMemory(memory, file.memoryAt(HEADER)).changedWords).toBe(2);
  });

  describe('with a file that is touched later', () => {
    let memory: ArrayBuffer;
    let path: string;
    let pristine: PristineMemory;
    beforeEach(() => {
      memory = new ArrayBuffer(BYTES);
      new Uint8Array(memory).fill(5);
      path = storeSnapshot(new Uint8Array(memory));
      pristine = new PristineMemory(memory, new SnapshotFile(path).memoryAt(HEADER));
    });

    it('restores the memory after the file was replaced and deleted', () => {
      const other = join(folder, 'other.bin');
      writeFileSync(other, Buffer.alloc(10));
      renameSync(other, path);
      rmSync(path);
      new Uint8Array(memory).fill(6);
      pristine.restore(memory);
      expect(new Uint8Array(memory).every((byte) => byte === 5)).toBe(true);
    });

    it('refuses to restore after the file was overwritten in place', () => {
      writeFileSync(path, Buffer.alloc(HEADER + BYTES, 9));
      expect(() => pristine.restore(memory)).toThrow('the file of the snapshot has changed');
    });

    it('refuses to restore after the file was truncated', () => {
      truncateSync(path, HEADER + CHUNK);
      expect(() => pristine.restore(memory)).toThrow('the file of the snapshot has become shorter');
    });
  });
});

describe('an interpreter from a snapshot', () => {
  let bytes: () => Buffer<ArrayBuffer>;
  let sealed: Buffer;
  let interpreter: SealedInterpreter;
  let snapshot: MemorySource | null;

  beforeAll(async () => {
    const options = {
      pyodideFolder: findPyodideFolder(),
      runner: readFileSync(RUNNER_PATH, 'utf8'),
      snapshot: null,
      environment: {},
      memoryLimitBytes: 160 << 20,
      resultLimitBytes: 2 << 20,
      outputLimitBytes: 1 << 16,
      recursionMax: 1000,
    };
    const path = join(folder, 'python.bin');
    writeFileSync(path, await makeSnapshot(options));
    const booted = await bootPython({ ...options, snapshot: new SnapshotFile(path) });
    snapshot = booted.snapshot;
    interpreter = new SealedInterpreter(booted, options);
    bytes = () => Buffer.from(booted.exports.memory.buffer);
    sealed = Buffer.from(bytes());
  }, 120_000);

  it('has exactly the sealed memory again after a script that has changed all kinds of it', () => {
    const source = `
import json, re
json.leaked = 'secret' * 10
re.compile = None
kept = [bytearray(1 << 20) for _ in range(40)]
a = [str(n) for n in range(50_000)]`;
    const request = Buffer.from(JSON.stringify({ kind: 'script', source }));
    interpreter.call({ request, variables: Buffer.from('{}'), pure: false });
    const used = bytes();
    expect(used.length).toBeGreaterThan(sealed.length);
    expect(used.subarray(0, sealed.length).equals(sealed)).toBe(false);
    interpreter.restoreIfChanged();
    expect(bytes().subarray(0, sealed.length).equals(sealed)).toBe(true);
    expect(
      bytes()
        .subarray(sealed.length)
        .every((byte) => byte === 0),
    ).toBe(true);
  });

  it('keeps less than one word of a hundred', () => {
    const memory = new ArrayBuffer(sealed.length);
    sealed.copy(new Uint8Array(memory));
    const { changedWords } = new PristineMemory(memory, snapshot);
    expect(changedWords).toBeLessThan(sealed.length / 4 / 100);
    expect(changedWords).toBeGreaterThan(0);
  });
});
