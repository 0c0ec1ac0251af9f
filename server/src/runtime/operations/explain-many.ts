/** Explains the instances of a list in one call, within a time limit and without blocking other explanations. */
import type { Clock } from '../../base/clock.js';
import type { Explanation } from '../explain/explanation.js';

/** No further explanation begins after this time. */
const EXPLAIN_MS_MAX = 500;

export interface Explanations {
  /** In the order of the ids; ids without an instance are omitted. */
  readonly items: readonly Explanation[];
  /** The ids that exceeded the time limit. */
  readonly left: readonly string[];
}

export interface ExplainManyOptions {
  readonly clock: Clock;
  /** Null: there is no such instance. */
  readonly explain: (id: string) => Promise<Explanation | null>;
}

export async function explainMany(
  ids: readonly string[],
  { clock, explain }: ExplainManyOptions,
): Promise<Explanations> {
  const end = clock.now() + EXPLAIN_MS_MAX;
  const wanted = [...new Set(ids)];
  const items: Explanation[] = [];
  for (const [at, id] of wanted.entries()) {
    if (at > 0 && clock.now() >= end) return { items, left: wanted.slice(at) };
    const explanation = await explain(id);
    if (explanation !== null) items.push(explanation);
  }
  return { items, left: [] };
}
