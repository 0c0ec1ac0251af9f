/** The JSON Merge Patch (RFC 7396) that leads from one JSON object to another. Pure. */
import { stringifyJson } from '@stepwright/sdk';

type Members = Readonly<Record<string, unknown>>;

export interface PatchOf {
  /** Null if nothing differs. */
  readonly patch: Record<string, unknown> | null;
  /** The paths of null members in the second object, which a merge patch would remove. */
  readonly lostNulls: readonly string[];
}

export function patchBetween(before: Members, after: Members): PatchOf {
  const lostNulls: string[] = [];
  const patch = patchOf(before, after, { path: '', lostNulls });
  return { patch: Object.keys(patch).length === 0 ? null : patch, lostNulls };
}

interface Place {
  readonly path: string;
  readonly lostNulls: string[];
}

function patchOf(before: Members, after: Members, place: Place): Record<string, unknown> {
  const removed = Object.keys(before).filter((name) => !Object.hasOwn(after, name));
  const changed = Object.entries(after).flatMap(([name, value]): [string, unknown][] => {
    const old = Object.hasOwn(before, name) ? before[name] : undefined;
    if (old !== undefined && isSame(old, value)) return [];
    const inside = { ...place, path: `${place.path}/${name}` };
    if (value === null) {
      place.lostNulls.push(inside.path);
      return Object.hasOwn(before, name) ? [[name, null]] : [];
    }
    if (!isMembers(value)) return [[name, value]];
    return [[name, patchOf(isMembers(old) ? old : {}, value, inside)]];
  });
  return Object.fromEntries([
    ...removed.map((name): [string, unknown] => [name, null]),
    ...changed,
  ]);
}

export function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isSame(one: unknown, other: unknown): boolean {
  return stringifyJson(one) === stringifyJson(other);
}
