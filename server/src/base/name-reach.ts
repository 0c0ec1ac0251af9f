/** Which names something may use: all of them, or those that begin with one of its prefixes. */
export type NameReach = 'all' | readonly string[];

export function reaches(reach: NameReach, name: string): boolean {
  return reach === 'all' || reach.some((prefix) => name.startsWith(prefix));
}

/** Whether it reaches every name that the other one reaches. */
export function reachesAllOf(reach: NameReach, other: NameReach): boolean {
  if (other === 'all') return reach === 'all';
  return other.every((prefix) => reaches(reach, prefix));
}

/** As the condition of a filter. */
export function definitionsWithin(reach: NameReach): {
  readonly definitionPrefixes?: readonly string[];
} {
  return reach === 'all' ? {} : { definitionPrefixes: reach };
}

/** Without prefixes that begin with another of them, in ascending order. */
export function shortestPrefixes(prefixes: readonly string[]): readonly string[] {
  const kept: string[] = [];
  for (const prefix of prefixes.toSorted()) {
    if (!reaches(kept, prefix)) kept.push(prefix);
  }
  return kept;
}
