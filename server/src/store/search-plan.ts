/**
 * How the stores find the instances of a list with bounded work.
 *
 * There are several paths to the instances: an index of their own columns in the order of the list, the terms of one condition,
 * the version of a definition, the times at which they ended. Each store counts how many entries each path has, up to a limit, and walks the shortest one
 * in the order of the list; it looks at each instance there and keeps those that fulfill all of the filter. If even the shortest
 * path is long, most walks still end soon, because many instances match. The others stop after `SEARCHED_MAX` entries, and
 * the caller continues from there.
 */
import type { IndexCondition } from './records/index-conditions.js';
import type { InstanceFilter, InstancePosition } from './records/instance-lists.js';

/** Entries of a path that one call looks at. */
export const SEARCHED_MAX = 2000;
/** Entries whose instances are read at once: each may have a long list in its index fields. */
const STEP_MAX = 500;
/** What a section holds at most, with the instances that others insert while it is read. */
export const SECTION_MAX = 4 * STEP_MAX;
/** Entries that one call counts, if nothing but an index has to be read. */
export const COUNTED_AT_ONCE_MAX = 20_000;
/** Up to this length of a path, its entries may be sorted for each page. */
export const SHORT_PATH_MAX = 5000;
/** Conditions whose paths are considered; there is little to gain from more. */
const CONSIDERED_CONDITIONS_MAX = 6;

export interface SearchPath {
  /** The condition that all instances on the path fulfill. */
  readonly covers: IndexCondition | null;
  /** Whether its entries can be read in the order of the list without sorting them. */
  readonly isOrdered: boolean;
}

/** Entries after a position (null: from the start), up to and including another (null: to the end). */
export interface PathSection {
  readonly after: InstancePosition | null;
  readonly until: InstancePosition | null;
}

/** The paths of a filter: those of its first conditions, then by version, by the times of ends, by the instances themselves. */
export function pathsFor<Path extends SearchPath>(
  filter: InstanceFilter,
  paths: {
    readonly term: (condition: IndexCondition, filter: InstanceFilter) => Path;
    /** In the order of starts. */
    readonly version: (filter: InstanceFilter) => Path;
    readonly ended: (filter: InstanceFilter) => Path;
    readonly instance: (filter: InstanceFilter) => Path;
  },
): readonly Path[] {
  const conditions = (filter.where ?? []).slice(0, CONSIDERED_CONDITIONS_MAX);
  const isEnded = filter.endedFrom !== undefined || filter.endedTo !== undefined;
  const isInOrderOfStarts = filter.failedFrom === undefined && filter.unchangedSince === undefined;
  const isOfVersion = filter.definitionId !== undefined && filter.version !== undefined;
  return [
    ...conditions.map((condition) => paths.term(condition, filter)),
    ...(isOfVersion && isInOrderOfStarts ? [paths.version(filter)] : []),
    ...(isEnded ? [paths.ended(filter)] : []),
    paths.instance(filter),
  ];
}

/** @param lengths up to `SHORT_PATH_MAX` + 1; the last path is the one to take when nothing speaks for another */
export function shortestPath<Path extends SearchPath>(
  paths: readonly Path[],
  lengths: readonly number[],
): Path {
  const [first, ...others] = paths.map((path, at) => ({ path, length: lengths[at] ?? Infinity }));
  if (first === undefined) throw new TypeError('There is no path');
  const possible = [first, ...others].filter(
    ({ length, path }) => path.isOrdered || length <= SHORT_PATH_MAX,
  );
  let best = possible[0] ?? first;
  for (const each of possible) if (each.length < best.length) best = each;
  return best.path;
}

/** The steps in which a path is walked: small ones first, because most pages are full after a few entries. */
export function* walkSteps(wanted: number): Generator<number> {
  let left = SEARCHED_MAX;
  for (let step = Math.max(2 * wanted, 50); left > 0; step *= 4) {
    const size = Math.min(step, left, STEP_MAX);
    left -= size;
    yield size;
  }
}
