/** The wire types of the search for runs by a text. */
import type { Explanation } from './explanation.js';
import type { IndexValue, WorkflowSummary } from './workflow.js';
import type { Time } from './time.js';

/**
 * The text that is searched for, and how many runs to return.
 */
export interface FindQuery {
  /**
   * An id, a reference, or the value of a tag or an index field, or the beginning of one. Upper and lower case are different.
   * @minLength 1 must not be empty
   * @maxLength 256 must have at most 256 characters
   */
  text: string;
  /**
   * The maximum number of runs.
   * @isInt must be a whole number
   * @minimum 1 must be at least 1
   * @maximum 100 must be at most 100
   * @default 20
   */
  limit?: number;
  /**
   * `nextCursor` of the previous response to the same text and `limit`: the search for parts continues in older runs.
   */
  cursor?: string;
}

/**
 * What was compared with the text.
 */
export type MatchedMember = 'id' | 'reference' | 'tag' | 'index';

/**
 * `equal`: the value is the text. `start`: it starts with the text. `part`: the text is further inside.
 */
export type MatchRelation = 'equal' | 'start' | 'part';

/**
 * Why a run was found.
 *
 * @example { "of": "tag", "name": "order", "value": "4711", "relation": "equal" }
 */
export interface WorkflowMatch {
  of: MatchedMember;
  /**
   * The name of the tag or the index field; null for others.
   */
  name: string | null;
  /**
   * The whole value.
   */
  value: IndexValue;
  relation: MatchRelation;
}

/**
 * A run that was found.
 */
export interface FoundWorkflow {
  workflow: WorkflowSummary;
  /**
   * Up to 5, the closest first.
   */
  matches: WorkflowMatch[];
}

/**
 * The runs that were found by a text.
 *
 * @example { "items": [], "exact": true, "partsFrom": null, "nextCursor": null, "definitionId": "order" }
 */
export interface WorkflowFindings {
  /**
   * Those with an equal value first, then those with a value that starts with the text, then the others; among these, the
   * newest first.
   */
  items: FoundWorkflow[];
  /**
   * False if there may be more runs with a value that equals or starts with the text.
   */
  exact: boolean;
  /**
   * The inside of values was searched only in runs that started at this time or later. Null: in all runs. ISO 8601, UTC.
   */
  partsFrom: Time | null;
  /**
   * Continues the search for parts in older runs; null if all runs were searched. A response may have no items and
   * still a cursor: the search stops when it has taken long enough.
   */
  nextCursor: string | null;
  /**
   * The text, if a definition has it as its id; otherwise null.
   */
  definitionId: string | null;
}

/**
 * The runs to explain.
 */
export interface ExplainQuery {
  /**
   * The id of a run. Repeat the parameter for up to 50 runs.
   * @minItems 1 must be given at least once
   * @maxItems 50 must be given at most 50 times
   */
  id: string[];
}

/**
 * Explanations of several runs.
 *
 * @example { "items": [], "left": ["01hx5v3x9t6k2m4n8p0q"] }
 */
export interface Explanations {
  /**
   * In the order of the ids, without runs that do not exist.
   */
  items: Explanation[];
  /**
   * The ids of runs that were not explained because the call had taken long enough: ask for them again.
   */
  left: string[];
}
