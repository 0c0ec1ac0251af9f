/**
 * Instances of which something may be in the store that this node does not know, as a write was given up that may still
 * arrive. Until they are read again, nobody can tell what has to follow.
 */
export class UncertainWrites {
  readonly #writes = new Map<string, { readonly since: number; readonly until: number }>();

  /** @param until it may arrive until then; a reading before does not count */
  add(id: string, since: number, until: number): void {
    this.#writes.set(id, { since, until });
  }

  /** The instance was read, so what comes of it from now on is followed. */
  read(id: string, now: number): void {
    const until = this.#writes.get(id)?.until;
    if (until !== undefined && until <= now) this.#writes.delete(id);
  }

  earliest(before: number): number {
    let earliest = before;
    for (const { since } of this.#writes.values()) earliest = Math.min(earliest, since);
    return earliest;
  }
}
