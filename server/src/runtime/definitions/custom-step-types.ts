/** Custom steps as clients see them. Times are milliseconds since 1970. */
import type { DocumentProblem } from '../../engine/model/definition.js';

export interface StepScriptView {
  readonly name: string;
  readonly version: number;
  readonly source: string;
  readonly createdAt: number;
}

/** A script that was just stored. */
export interface StoredScript extends StepScriptView {
  readonly warnings: readonly DocumentProblem[];
}

/** A script in a list. */
export type StepScriptSummary = Omit<StepScriptView, 'source'> & {
  /** The actor who stored this version; null: unknown. */
  readonly createdBy: string | null;
};
