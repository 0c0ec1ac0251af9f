/**
 * Inserts of this process that have a conflict rule and the same definition and reference take turns, so that they do not
 * contend in the database: only inserts of different nodes do.
 */
import type { InstanceRecord } from './records/instances.js';

export class ReferenceTurns {
  readonly #last = new Map<string, Promise<unknown>>();

  take<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const before = this.#last.get(key) ?? Promise.resolve();
    const mine = before.then(work);
    const settled = mine.catch(() => undefined);
    this.#last.set(key, settled);
    void settled.then(() => {
      if (this.#last.get(key) === settled) this.#last.delete(key);
    });
    return mine;
  }
}

/** Distinguishes `ab` and `c` from `a` and `bc`. */
export function referenceKeyOf({
  definitionId,
  reference,
}: Pick<InstanceRecord, 'definitionId' | 'reference'>): string {
  return `${definitionId.length}:${definitionId}:${reference ?? ''}`;
}
