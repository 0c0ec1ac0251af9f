/** Definitions and custom steps. Rules S1–S13: ../store.ts. */
import type {
  DefinitionVersion,
  NewDefinition,
  StoredDefinition,
  StepScriptRecord,
  StepScriptVersion,
  IdempotencyStamp,
  InsertDefinitionResult,
} from '../records/definitions.js';

export interface DefinitionStore {
  /** Stores the next version of `id`. Versions are 1, 2, 3 … without gaps, even with concurrent inserts. */
  insertDefinition(
    definition: NewDefinition,
    idempotency: IdempotencyStamp | null,
  ): Promise<InsertDefinitionResult>;
  /** The given version, or the latest. */
  getDefinition(id: string, version: number | 'latest'): Promise<StoredDefinition | null>;
  /** The text of the given version, or of the latest. Null: there is no such version, or its text was not kept. */
  getDefinitionSource(id: string, version: number | 'latest'): Promise<string | null>;
  /** The latest version of each definition, ordered by id (code points), after `afterId`. */
  listDefinitions(afterId: string | null, limit: number): Promise<readonly StoredDefinition[]>;

  /** Versions of one definition, newest first, below `beforeVersion`. */
  listDefinitionVersions(
    id: string,
    beforeVersion: number | null,
    limit: number,
  ): Promise<readonly DefinitionVersion[]>;

  /** Whether instances of it can be started (rule S9), for all versions. Returns false if there is no such definition. */
  setDefinitionDisabled(id: string, disabled: boolean): Promise<boolean>;

  /** Stores the next version of the script. */
  insertStepScript(script: Omit<StepScriptRecord, 'version'>): Promise<StepScriptRecord>;
  /** The given version, or the latest. */
  getStepScript(name: string, version: number | 'latest'): Promise<StepScriptRecord | null>;
  /** The latest version of each script, ordered by name, after `afterName`. */
  listStepScripts(afterName: string | null, limit: number): Promise<readonly StepScriptRecord[]>;
  /** Versions of one script, newest first, below `beforeVersion`. */
  listStepScriptVersions(
    name: string,
    beforeVersion: number | null,
    limit: number,
  ): Promise<readonly StepScriptVersion[]>;
}
