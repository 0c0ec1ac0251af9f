/**
 * Instances for which the store may hold something unknown to this node, because a write that was given up may still
 * arrive. Until they are read again, the required follow-up work is unknown.
 */
export class UncertainWrites {
  readonly #writes = new Map<string, { readonly since: number; readonly until: number }>();

  /** @param until the latest time at which the write may arrive; earlier reads do not count */
  add(id: string, since: number, until: number): void {
    this.#writes.set(id, { since, until });
  }

  /** The instance was read: its follow-up work is known from now on. */
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
