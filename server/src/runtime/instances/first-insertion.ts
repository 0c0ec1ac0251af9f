/** The single insert of a new instance into the store, possibly while its first pass is still running. */
import type { Session } from '../../engine/session/session.js';
import type { InsertInstanceResult, SideRecords } from '../../store/records/instances.js';
import { noSideRecords } from '../instance-state/unsaved-changes.js';

/** The result of the first pass of a new instance. */
export interface FirstPass {
  readonly session: Session;
  /** When the store's scan must find the instance. */
  wakeAt(): number | null;
  /** Called just before this state is stored, with its time. */
  wrote(state: string, now: number): void;
  /** Called when the store has this state, and no event for its waits. */
  foundNoEvents(): void;
}

/**
 * Stores a new instance in its current state. `inserted-before`: an earlier state was stored while the pass was running, and
 * the current one must be committed. `not-inserted`: another caller has started the instance, or it must not start: this actor
 * must stop.
 */
export type Insert = (
  /** Null: store the initial state. */
  firstPass: FirstPass | null,
  side: SideRecords,
) => Promise<'inserted' | 'inserted-before' | 'not-inserted'>;

/** Inserts a new instance once: with the result of its first pass or, if the pass takes too long, in its initial state. */
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

  /** Called when the first pass takes too long: stores the instance in its initial state. */
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
