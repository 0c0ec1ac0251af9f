/** A change of the tables. */
export interface Migration {
  /** 1, 2, 3 …; never changes once it has been released. */
  readonly version: number;
  readonly name: string;
  /** Statements, run in one transaction. `@` before a table or index stands for the schema. */
  readonly statements: readonly string[];
}
