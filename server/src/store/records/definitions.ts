/** Definitions and the scripts of custom steps, as they are stored. */

export interface DefinitionRecord {
  readonly id: string;
  readonly version: number;
  readonly description: string | null;
  /** The document as JSON text with canonical member names. */
  readonly body: string;
  readonly createdAt: number;
}

/** A version that is to be stored. */
export interface NewDefinition extends Omit<DefinitionRecord, 'version'> {
  /** The text as it was posted, in JSON or YAML. */
  readonly source?: string | null;
}

/** A version as it is read: with the state that all versions share. */
export interface StoredDefinition extends DefinitionRecord {
  /** True if no version of it can be started. */
  readonly disabled: boolean;
}

/** A version, as it appears in a list. */
export interface DefinitionVersion extends Omit<StoredDefinition, 'body'> {
  /** Where it comes from: see ../definition-origin.ts. */
  readonly origin: string | null;
}

export interface StepScriptRecord {
  readonly name: string;
  readonly version: number;
  readonly source: string;
  readonly createdAt: number;
}

/** A version, as it appears in a list. */
export type StepScriptVersion = Omit<StepScriptRecord, 'source'>;

/** Identifies a request that may be repeated. `id` is derived from the key, `requestHash` from the body. */
export interface IdempotencyStamp {
  readonly id: string;
  readonly requestHash: string;
}

export type InsertDefinitionResult =
  | { readonly outcome: 'inserted' | 'repeated'; readonly record: DefinitionRecord }
  /** The same idempotency id with another request hash. */
  | { readonly outcome: 'conflict' };
