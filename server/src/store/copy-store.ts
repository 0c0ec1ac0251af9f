/**
 * Copies a store into an empty one while no server runs on either, and compares both at the end.
 *
 * No server starts on the target until the copy is complete and has been compared. After an interruption, the copy starts
 * again from the beginning. Servers can start on the source: if one has changed anything, the copy fails.
 */
import { createHash } from 'node:crypto';
import {
  RECORD_KINDS,
  type ArchivedRecords,
  type ArchiveImport,
  type ArchiveReader,
  type RecordKind,
  type StoreArchive,
} from './archive.js';
import type { NodeRecord } from './records/nodes.js';

/** The copy did not start, and nothing has changed. */
export class CopyRefusedError extends Error {
  override readonly name = 'CopyRefusedError' as const;
}

export interface CopyOptions {
  readonly source: StoreArchive;
  readonly target: StoreArchive;
  readonly onProgress: (progress: CopyProgress) => void;
  /** How long to watch for heartbeats. */
  readonly watchMs: number;
}

export interface CopyProgress {
  readonly phase: 'copy' | 'compare';
  readonly kind: RecordKind;
  readonly records: number;
  /** An estimate. */
  readonly of: number;
  readonly isLast: boolean;
}

export interface Tally {
  readonly records: number;
  /** Does not depend on the order of the records. */
  readonly checksum: string;
}

export type Tallies = Readonly<Record<RecordKind, Tally>>;

/** @throws CopyRefusedError if a server uses one of the stores, or the target is not empty */
export async function copyStore(options: CopyOptions): Promise<Tallies> {
  const { source, target } = options;
  const problem = await source.problemAsSource();
  if (problem !== null) throw new CopyRefusedError(`${source.place} cannot be copied: ${problem}`);
  await refuseLiveNodes(options);
  if (!(await target.isEmpty())) {
    throw new CopyRefusedError(`The target is not empty: ${target.place}`);
  }
  const mark = await source.changeMark();
  const copy = await target.beginImport();
  const read = await eachKind((kind) => copyKind(source, copy, kind, options));
  const written = await eachKind((kind) => compareKind(copy, kind, read[kind], options));
  await refuseLiveNodes(options);
  if ((await source.changeMark()) !== mark) {
    throw new Error(
      `${source.place} has changed during the copy, although no server runs on it now. The target cannot be used; make sure ` +
        'that no server starts on the source, and run migrate-store again',
    );
  }
  await copy.finish();
  return written;
}

async function copyKind(
  source: ArchiveReader,
  copy: ArchiveImport,
  kind: RecordKind,
  options: CopyOptions,
): Promise<Tally> {
  return tally({ reader: source, kind, phase: 'copy', options }, (records) =>
    copy.write(kind, records),
  );
}

async function compareKind(
  copy: ArchiveReader,
  kind: RecordKind,
  expected: Tally,
  options: CopyOptions,
): Promise<Tally> {
  const found = await tally({ reader: copy, kind, phase: 'compare', options });
  if (found.records === expected.records && found.checksum === expected.checksum) return found;
  throw new Error(
    `The copy differs from the source: ${kind}: ${expected.records} records with checksum ${expected.checksum} were read, ` +
      `${found.records} with checksum ${found.checksum} were written. The target cannot be used; run migrate-store again`,
  );
}

async function eachKind(work: (kind: RecordKind) => Promise<Tally>): Promise<Tallies> {
  const tallies: Partial<Record<RecordKind, Tally>> = {};
  for (const kind of RECORD_KINDS) tallies[kind] = await work(kind);
  // Every kind has a tally.
  return tallies as Tallies;
}

async function tally<Kind extends RecordKind>(
  pass: {
    readonly reader: ArchiveReader;
    readonly kind: Kind;
    readonly phase: CopyProgress['phase'];
    readonly options: CopyOptions;
  },
  use?: (records: readonly ArchivedRecords[Kind][]) => Promise<void>,
): Promise<Tally> {
  const { kind, options, phase, reader } = pass;
  const expected = await reader.count(kind);
  let records = 0;
  let sum = 0n;
  for await (const batch of reader.read(kind)) {
    await use?.(batch);
    for (const record of batch) sum = BigInt.asUintN(128, sum + hashOf(record));
    records += batch.length;
    options.onProgress({ phase, kind, records, of: expected, isLast: false });
  }
  options.onProgress({ phase, kind, records, of: records, isLast: true });
  return { records, checksum: sum.toString(16).padStart(32, '0') };
}

function hashOf(record: object): bigint {
  const digest = createHash('sha256').update(canonical(record)).digest('hex');
  return BigInt(`0x${digest.slice(0, 32)}`);
}

/** JSON with sorted keys, so that equal records have equal texts, whichever store they come from. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) => {
    // An integer beyond 2^53 in an index field; JSON has no `bigint`.
    if (typeof member === 'bigint') return { bigint: String(member) };
    if (typeof member !== 'object' || member === null || Array.isArray(member)) return member;
    return Object.fromEntries(
      Object.entries(member).sort(([left], [right]) => (left < right ? -1 : 1)),
    );
  });
}

/** The nodes whose heartbeats continue. This does not depend on the clocks of other machines. */
async function refuseLiveNodes({ source, target, watchMs }: CopyOptions): Promise<void> {
  const archives = [source, target];
  const before = await Promise.all(archives.map((archive) => archive.listNodes()));
  if (before.every((nodes) => nodes.length === 0)) return;
  await new Promise((resolve) => setTimeout(resolve, watchMs));
  for (const [index, archive] of archives.entries()) {
    const live = (await archive.listNodes()).filter((node) => !isSame(node, before[index] ?? []));
    if (live.length === 0) continue;
    const names = live.map(({ hostname, id, pid }) => `${id} (${hostname}, process ${pid})`);
    throw new CopyRefusedError(`Servers are running on ${archive.place}: stop ${names.join(', ')}`);
  }
}

function isSame(node: NodeRecord, others: readonly NodeRecord[]): boolean {
  return others.some(({ beatAt, id }) => id === node.id && beatAt === node.beatAt);
}
