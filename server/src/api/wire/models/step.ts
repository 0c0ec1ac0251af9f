/** Custom steps on the wire. */
import type { ProblemItem } from './problem.js';

/**
 * A version of a custom step.
 *
 * @example { "name": "add", "version": 1 }
 */
export interface StepVersion {
  name: string;
  /**
   * Counts the scripts that were stored under this name.
   * @isInt
   */
  version: number;
}

/**
 * A custom step that was stored.
 *
 * @example { "name": "add", "version": 1, "warnings": [] }
 */
export interface StoredStep extends StepVersion {
  /**
   * What will fail or is hardly meant, with line and column in the script.
   */
  warnings: ProblemItem[];
}

/**
 * A custom step in a list.
 *
 * @example { "name": "add", "version": 1, "createdAt": "2026-05-04T10:20:30.000Z" }
 */
export interface StepSummary extends StepVersion {
  /**
   * ISO 8601, UTC.
   */
  createdAt: string;
}

/**
 * Custom steps, one page of them.
 */
export interface StepPage {
  items: StepSummary[];
  /**
   * The `cursor` of the next page; null on the last one.
   */
  nextCursor: string | null;
}
