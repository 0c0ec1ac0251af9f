/**
 * Instances with writes of unknown outcome: an abandoned write may still reach the store. Until they are read again, their
 * follow-up work is unknown.
 */
export class UncertainWrites {
  readonly #writes = new Map<string, { readonly since: number; readonly until: number }>();

  /** @param until the latest time at which the write may arrive; earlier reads don't count */
  add(id: string, since: number, until: number): void {
    this.#writes.set(id, { since, until });
  }

  /** Called when the instance was read: its follow-up work is known again. */
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
