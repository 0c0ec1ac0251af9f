/**
 * Windows: an instance that starts with the same definition and key join until it begins (debounce, rule S16).
 *
 * Who joins is decided by the commits of the instance. The store only finds the open window, and knows when it has closed.
 */

/** A start has joined the open window of an instance, or the window closes. */
export interface WindowChange {
  /** False: from this commit on, a start opens another window (rule S16). */
  readonly isOpen: boolean;
  /** From when on the instance counts. */
  readonly countsFrom: number;
  /** Replaces the input with which it was inserted. Omitted: it stays. */
  readonly input?: string;
}

/** Identifies the windows of a key among the keys of references and places: none of them begins with this. */
export function windowKeyOf(
  { definitionId }: { readonly definitionId: string },
  key: string,
): string {
  return `window/${definitionId.length}:${definitionId}:${key}`;
}
