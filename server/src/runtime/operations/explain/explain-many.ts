/** Explains the instances of a list in one call, which takes a bounded time and does not keep others from explaining. */
import type { NameReach } from '../../../base/name-reach.js';
import { memoryCost } from '../../../engine/values/memory-cost.js';
import type { ReadingGate } from '../../memory/reading-gate.js';
import { explainWorkflow, type ExplainOptions } from './explain-workflow.js';
import type { Explanation } from './explanation.js';

/** No further explanation begins after this time. */
const EXPLAIN_MS_MAX = 500;

export interface Explanations {
  /** In the order of the ids, without those of no instance. */
  readonly items: readonly Explanation[];
  /** The ids for which there was no time. */
  readonly left: readonly string[];
}

export interface ExplainManyOptions extends ExplainOptions {
  readonly explaining: ReadingGate;
}

export async function explainMany(
  ids: readonly string[],
  options: ExplainManyOptions,
  reach: NameReach,
): Promise<Explanations> {
  const { clock, explaining, store } = options;
  const end = clock.now() + EXPLAIN_MS_MAX;
  const nodes = await store.listNodes();
  const wanted = [...new Set(ids)];
  const items: Explanation[] = [];
  for (const [at, id] of wanted.entries()) {
    if (at > 0 && clock.now() >= end) return { items, left: wanted.slice(at) };
    const explanation = await explaining.read(
      () => store.getInstance(id),
      (record) => memoryCost(record?.state ?? ''),
      (record) => (record === null ? null : explainWorkflow(record, options, { nodes, reach })),
    );
    if (explanation !== null) items.push(explanation);
  }
  return { items, left: [] };
}
