/** The first values of a label keep it; all others share the empty one. Each label costs memory here and in Prometheus. */
const LABELS_MAX = 500;

export class KnownLabels {
  readonly #known = new Set<string>();

  of(value: string): string {
    if (this.#known.size < LABELS_MAX) this.#known.add(value);
    return this.#known.has(value) ? value : '';
  }
}
