/** The calls of the definition catalog, and their results. Times are milliseconds since 1970. */
import type { DocumentProblem } from '../../engine/model/definition.js';

export interface DefinitionSummary {
  readonly id: string;
  readonly version: number;
  readonly description: string | null;
  readonly createdAt: number;
}

export interface RegisteredDefinition {
  readonly id: string;
  readonly version: number;
  readonly warnings: readonly DocumentProblem[];
}

export interface DefinitionCheck {
  readonly valid: boolean;
  readonly errors: readonly DocumentProblem[];
  readonly warnings: readonly DocumentProblem[];
}
