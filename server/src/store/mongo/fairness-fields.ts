/** The fairness of instances, items and waits, as it is in their documents. */
import type { Fairness } from '../../engine/model/start-options.js';
import { decodeText, encodeText } from '../text-codec.js';

/** Both are absent if there is no key. Never empty. */
export interface FairnessFields {
  readonly fairnessKey?: string;
  readonly fairnessWeight?: number;
}

export const FAIRNESS_FIELDS = { fairnessKey: 1, fairnessWeight: 1 } as const;

/** Of those that have a key. */
export const KEYED = { $gt: '' } as const;

export function fairnessOf({ fairnessKey, fairnessWeight = 1 }: FairnessFields): Fairness | null {
  if (fairnessKey === undefined) return null;
  return { key: decodeText(fairnessKey), weight: fairnessWeight };
}

export function fairnessFieldsOf(fairness: Fairness | null): FairnessFields {
  if (fairness === null) return {};
  return { fairnessKey: encodeText(fairness.key), fairnessWeight: fairness.weight };
}

/** Those of another record. */
export function sameFairness({ fairnessKey, fairnessWeight }: FairnessFields): FairnessFields {
  return {
    ...(fairnessKey !== undefined && { fairnessKey }),
    ...(fairnessWeight !== undefined && { fairnessWeight }),
  };
}
