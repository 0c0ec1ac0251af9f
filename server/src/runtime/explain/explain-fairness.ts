/** Says that work which waits takes turns with that of other keys. */
import { DEFAULT_FAIRNESS_WEIGHT } from '../../engine/model/start-options.js';
import type { InstanceFacts } from './explanation.js';

/** Empty if the instance has no fairness key. */
export function sayTurns({ instance }: Pick<InstanceFacts, 'instance'>): string {
  const fairness = instance?.fairness ?? null;
  if (fairness === null) return '';
  const { key, weight } = fairness;
  const share = weight === DEFAULT_FAIRNESS_WEIGHT ? '' : `, weight ${weight}`;
  return `; takes turns under the fairness key '${key}'${share}`;
}
