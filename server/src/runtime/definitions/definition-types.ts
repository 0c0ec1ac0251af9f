/** The calls of the definition catalog, and their results. Times are milliseconds since 1970. */
import type { DocumentProblem } from '../../engine/model/definition.js';
import type { JsonObject } from '../../engine/values/json.js';
import type { DefinitionVersion } from '../../store/records/definitions.js';

export interface DefinitionSummary {
  readonly id: string;
  readonly version: number;
  readonly description: string | null;
  readonly createdAt: number;
  /** True if starts of all versions are disabled. */
  readonly disabled: boolean;
  /** Where this version comes from, such as a commit; null: unknown. */
  readonly origin: string | null;
  /** The actor who stored this version; null: unknown. */
  readonly createdBy: string | null;
}

/** A definition to store. */
export interface PostedDefinition {
  readonly document: unknown;
  /** The text that the document was read from, in JSON or YAML; null: none is kept. */
  readonly source: string | null;
  /** The original text of a number; default: unknown. */
  readonly writtenNumber?: (pointer: string) => string | null;
  /** Where it comes from: see DefinitionSummary. */
  readonly origin?: string | null;
  /** The actor who stores it; default: no client. */
  readonly actor?: string;
}

export interface DefinitionView {
  readonly document: JsonObject;
  readonly summary: DefinitionVersion;
}

export interface RegisteredDefinition {
  readonly id: string;
  readonly version: number;
  readonly warnings: readonly DocumentProblem[];
}

/** The next due times of a cron trigger; none of an event trigger. */
export interface TriggerTimes {
  readonly name: string;
  readonly nextTimes: readonly number[];
}

export interface DefinitionCheck {
  readonly valid: boolean;
  readonly errors: readonly DocumentProblem[];
  readonly warnings: readonly DocumentProblem[];
  /** Empty if there are errors. */
  readonly triggers: readonly TriggerTimes[];
}
