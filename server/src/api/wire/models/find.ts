/** The wire types of text search for runs. */
import type { Explanation } from './explanation.js';
import type { IndexValue, WorkflowSummary } from './workflow.js';
import type { Time } from './time.js';

/**
 * The search text and the number of runs to return.
 */
export interface FindQuery {
  /**
   * An id, a reference, the value of a tag or index field, or the beginning of one. Case-sensitive.
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
   * `nextCursor` of the previous response for the same text and `limit`. Continues the search for partial matches in older runs.
   */
  cursor?: string;
}

/**
 * The kind of value that matched.
 */
export type MatchedMember = 'id' | 'reference' | 'tag' | 'index';

/**
 * `equal`: the value is the text. `start`: it starts with the text. `part`: it contains the text.
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
   * The name of the tag or index field; null for other kinds.
   */
  name: string | null;
  /**
   * The whole value.
   */
  value: IndexValue;
  relation: MatchRelation;
}

/**
 * A matching run.
 */
export interface FoundWorkflow {
  workflow: WorkflowSummary;
  /**
   * Up to 5 matches, the closest first.
   */
  matches: WorkflowMatch[];
}

/**
 * The runs found by a text search.
 *
 * @example { "items": [], "exact": true, "partsFrom": null, "nextCursor": null, "definitionId": "order" }
 */
export interface WorkflowFindings {
  /**
   * Runs with an equal value first, then runs with a value that starts with the text, then the others; the newest first within
   * each group.
   */
  items: FoundWorkflow[];
  /**
   * False if there may be more runs with a value that equals or starts with the text.
   */
  exact: boolean;
  /**
   * Partial matches were searched only in runs started at or after this time; null if in all runs. ISO 8601, UTC.
   */
  partsFrom: Time | null;
  /**
   * Continues the search for partial matches in older runs; null if all runs were searched. A response may have a cursor but no
   * items, because the search time is limited.
   */
  nextCursor: string | null;
  /**
   * The text, if it is the id of a definition; otherwise null.
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
   * In the order of the ids, without runs that don't exist.
   */
  items: Explanation[];
  /**
   * The ids of runs that weren't explained because the call's time was up. Request them again.
   */
  left: string[];
}
