/** Triggers as they are stored: one record for each trigger of a definition's newest version. */
export interface TriggerRecord {
  /** Derived from the definition and the name, so that there is one record for each. */
  readonly id: string;
  readonly definitionId: string;
  /** When a node must look at it next; null: never by itself. */
  readonly dueAt: number | null;
  /** A hash of the name of the events that fire it; null: none do. */
  readonly eventHash: string | null;
  /** Incremented by every change. */
  readonly revision: number;
  /** Opaque JSON text: what the trigger is, and how far it has come. */
  readonly body: string;
}
