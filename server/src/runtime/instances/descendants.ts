/**
 * Instances that descend from one that a client started: how many may be open, and how many of them a node has in memory.
 *
 * SubWorkflow steps that do not wait could start instances without end. The store counts them (`openDescendantsMax`);
 * here is what a node makes of it.
 */

/** Why a step may not start another one. A later attempt may find room. */
export function tooManyDescendants(rootId: string, descendantsMax: number): string {
  return (
    `run ${rootId} has ${descendantsMax} open descendants, the maximum (descendants_max); ` +
    'another one can start when one of them has ended'
  );
}

/** How many instances of each root are in memory. */
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
