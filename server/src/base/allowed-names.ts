/** The names that a caller may use: all, or those with one of these prefixes. */
export type AllowedNames = 'all' | readonly string[];

export function allowsName(allowed: AllowedNames, name: string): boolean {
  return allowed === 'all' || allowed.some((prefix) => name.startsWith(prefix));
}

/** True if `allowed` includes every name of `other`. */
export function allowsAllNames(allowed: AllowedNames, other: AllowedNames): boolean {
  if (other === 'all') return allowed === 'all';
  return other.every((prefix) => allowsName(allowed, prefix));
}

/** The filter condition for allowed definitions. */
export function definitionsWithin(allowed: AllowedNames): {
  readonly definitionPrefixes?: readonly string[];
} {
  return allowed === 'all' ? {} : { definitionPrefixes: allowed };
}

/** Removes prefixes that begin with another one. In ascending order. */
export function shortestPrefixes(prefixes: readonly string[]): readonly string[] {
  const kept: string[] = [];
  for (const prefix of prefixes.toSorted()) {
    if (!allowsName(kept, prefix)) kept.push(prefix);
  }
  return kept;
}
