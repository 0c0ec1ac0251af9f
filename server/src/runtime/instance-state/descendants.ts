/**
 * The descendants of an instance that a client started: the limit on open ones, and their count in a node's memory.
 *
 * SubWorkflow steps that don't wait could start an unlimited number of instances. The store counts them (`openDescendantsMax`);
 * this file contains the node's part.
 */

/** The error of a step that may not start another child. A later attempt may succeed. */
export function tooManyDescendants(rootId: string, descendantsMax: number): string {
  return (
    `run ${rootId} has ${descendantsMax} open descendants, the maximum (descendants_max); ` +
    'another one can start when one of them has ended'
  );
}

/** Counts the instances of each root in memory. */
export class RootCounts {
  readonly #counts = new Map<string, number>();

  of(rootId: string): number {
    return this.#counts.get(rootId) ?? 0;
  }

  add(rootId: string): void {
    this.#counts.set(rootId, this.of(rootId) + 1);
  }

  remove(rootId: string): void {
    const left = this.of(rootId) - 1;
    if (left > 0) this.#counts.set(rootId, left);
    else this.#counts.delete(rootId);
  }
}
