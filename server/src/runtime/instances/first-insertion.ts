/** How a new instance comes into the store, once, while its first pass may still be under way. */
import type { Run } from '../../engine/flow/run.js';
import type { InsertInstanceResult, SideRecords } from '../../store/records/instances.js';
import { noSideRecords } from './unsaved-changes.js';

/** What the first pass has made of a new instance. */
export interface FirstPass {
  readonly run: Run;
  /** When the store's scan must find the instance. */
  wakeAt(): number | null;
  /** This state is about to be stored. */
  wrote(state: string): void;
}

/**
 * Stores a new instance as it stands. `inserted-before`: an earlier state of it was stored while it ran on, and the
 * present one must be committed. `not-inserted`: somebody else started it, or nobody may; this actor has nothing to do.
 */
export type Insert = (
  /** Null: as it began. */
  firstPass: FirstPass | null,
  side: SideRecords,
) => Promise<'inserted' | 'inserted-before' | 'not-inserted'>;

/** The insert of a new instance: once, either with what its first pass made of it or, when that takes long, before. */
export class FirstInsertion {
  readonly result: Promise<InsertInstanceResult>;
  readonly #insert: (
    firstPass: FirstPass | null,
    side: SideRecords,
  ) => Promise<InsertInstanceResult>;
  readonly #settle: (result: Promise<InsertInstanceResult>) => void;
  #begun: Promise<InsertInstanceResult> | null = null;

  constructor(
    insert: (firstPass: FirstPass | null, side: SideRecords) => Promise<InsertInstanceResult>,
  ) {
    this.#insert = insert;
    let settle: (result: Promise<InsertInstanceResult>) => void = () => undefined;
    this.result = new Promise((resolve) => {
      settle = resolve;
    });
    this.#settle = settle;
  }

  /** The first pass takes long: the instance is stored as it began. */
  early(): void {
    void this.#begin(null, noSideRecords());
  }

  async withFirstPass(
    firstPass: FirstPass | null,
    side: SideRecords,
  ): Promise<'inserted' | 'inserted-before' | 'not-inserted'> {
    const isFirst = this.#begun === null;
    const result = await this.#begin(firstPass, side);
    if (result.outcome !== 'inserted') return 'not-inserted';
    return isFirst ? 'inserted' : 'inserted-before';
  }

  #begin(firstPass: FirstPass | null, side: SideRecords): Promise<InsertInstanceResult> {
    if (this.#begun === null) {
      this.#begun = this.#insert(firstPass, side);
      this.#settle(this.#begun);
    }
    return this.#begun;
  }
}
