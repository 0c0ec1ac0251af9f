/**
 * Reads CPU profiles as `node --cpu-prof` writes them, one file per thread: cut to a span of time, and as a tree of
 * frames with the time spent in each.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export interface Frame {
  readonly name: string;
  /** The origin of a function (the project, a package or Node), shortened for display. */
  readonly place: string;
  selfMs: number;
  /** Including all frames below. */
  totalMs: number;
  readonly children: Map<string, Frame>;
}

export interface Span {
  /** The clock of `process.hrtime`, which profiles use too. */
  readonly fromUs: number;
  readonly toUs: number;
}

interface ProfileNode {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string };
  readonly children?: readonly number[];
}

interface ProfileFile {
  readonly nodes: readonly ProfileNode[];
  readonly startTime: number;
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

/**
 * A gap of more than this many intervals between samples does not count to a function: the thread was waiting for a
 * processor.
 */
const LONGEST_INTERVALS = 4;

export class CpuProfile {
  readonly #file: ProfileFile;

  constructor(file: string) {
    // Node writes this file.
    this.#file = JSON.parse(readFileSync(file, 'utf8')) as ProfileFile;
  }

  /** The thread of the store runs other files than the main thread. */
  runs(file: string): boolean {
    return this.#file.nodes.some(({ callFrame }) => callFrame.url.endsWith(file));
  }

  /** The frames that ran in the span, without idle time. */
  during({ fromUs, toUs }: Span): Frame {
    const { nodes, samples, startTime, timeDeltas } = this.#file;
    const spentMs = new Map<number, number>();
    const longestUs = LONGEST_INTERVALS * medianOf(timeDeltas);
    let at = startTime;
    samples.forEach((id, index) => {
      const deltaUs = timeDeltas[index] ?? 0;
      at += deltaUs;
      if (at < fromUs || at > toUs) return;
      spentMs.set(id, (spentMs.get(id) ?? 0) + Math.min(deltaUs, longestUs) / 1000);
    });
    const byId = new Map(nodes.map((node) => [node.id, node]));
    const root: Frame = { name: 'all', place: '', selfMs: 0, totalMs: 0, children: new Map() };
    const [first] = nodes;
    if (first !== undefined) mergeChildren(root, first, { byId, spentMs });
    return root;
  }
}

interface Source {
  readonly byId: ReadonlyMap<number, ProfileNode>;
  readonly spentMs: ReadonlyMap<number, number>;
}

/** Merges frames of the same function under the same caller, whichever line made the call. */
function mergeChildren(into: Frame, node: ProfileNode, source: Source): void {
  for (const id of node.children ?? []) {
    const child = source.byId.get(id);
    if (child === undefined || child.callFrame.functionName === '(idle)') continue;
    const { functionName, url } = child.callFrame;
    const [name, place] = [functionName === '' ? '(anonymous)' : functionName, placeOf(url)];
    const key = `${name} ${place}`;
    const frame = into.children.get(key) ?? {
      name,
      place,
      selfMs: 0,
      totalMs: 0,
      children: new Map<string, Frame>(),
    };
    into.children.set(key, frame);
    const before = frame.totalMs;
    const selfMs = source.spentMs.get(id) ?? 0;
    frame.selfMs += selfMs;
    frame.totalMs += selfMs;
    mergeChildren(frame, child, source);
    into.totalMs += frame.totalMs - before;
  }
}

const DIST = fileURLToPath(new URL('../../server/dist/', import.meta.url));

function placeOf(url: string): string {
  if (!url.startsWith('file:')) return url;
  const file = fileURLToPath(url);
  if (file.startsWith(DIST)) return file.slice(DIST.length);
  const inPackage = file.split(`node_modules${path.sep}`).at(-1) ?? file;
  return `node_modules/${inPackage}`;
}

function medianOf(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
}
