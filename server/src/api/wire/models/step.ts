/** The wire types of custom steps. */
import type { ProblemItem } from './problem.js';
import type { Time } from './time.js';

/**
 * A version of a custom step.
 *
 * @example { "name": "add", "version": 1 }
 */
export interface StepVersion {
  name: string;
  /**
   * Versions count the scripts stored under this name: 1, 2, 3 …
   * @isInt
   */
  version: number;
}

/**
 * A stored custom step.
 *
 * @example { "name": "add", "version": 1, "warnings": [] }
 */
export interface StoredStep extends StepVersion {
  /**
   * Certain failures and probable mistakes, with line and column in the script.
   */
  warnings: ProblemItem[];
}

/**
 * A custom step in a list.
 *
 * @example { "name": "add", "version": 1, "createdAt": "2026-05-04T10:20:30.000Z", "createdBy": "ada" }
 */
export interface StepSummary extends StepVersion {
  /**
   * ISO 8601, UTC.
   */
  createdAt: Time;
  /**
   * Who stored this version, as for a definition; null if unknown.
   */
  createdBy: string | null;
}

/**
 * A page of custom steps.
 */
export interface StepPage {
  items: StepSummary[];
  /**
   * The `cursor` of the next page; null on the last one.
   */
  nextCursor: string | null;
}
