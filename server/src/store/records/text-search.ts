/** Finding instances by a text in their id, their reference, their tags or their index fields. */
import type { IndexValue } from '../../engine/values/index-fields.js';
import type { InstanceSummary } from './instances.js';

/** Names of tags whose values one search looks at, if there are more; and as many names of index fields. */
export const SEARCHED_NAMES_MAX = 100;

export interface TextSearch {
  /** Not empty. */
  readonly text: string;
  /** The text in each type as which it can be read, as in a condition: `7` is a number and text. */
  readonly values: readonly IndexValue[];
  /** The maximum number of instances. */
  readonly limit: number;
}

export interface TextFindings {
  /** Those in which something equals the text or one of the values first, then the newest start first, then by id. */
  readonly items: readonly InstanceSummary[];
  /** False: there may be more, because of the limit or because there are more names than one search looks at. */
  readonly isComplete: boolean;
}
