/** The single insert of a new instance into the store, possibly while its first pass is still running. */
import type { Session } from '../../engine/session/session.js';
import type { InsertInstance, InsertInstanceResult } from '../../store/records/instances.js';
import type { LimitKey, RefusedSlots } from '../../store/records/slots.js';
import { UnsavedChanges } from '../instance-state/unsaved-changes.js';

/** The result of the first pass of a new instance. */
export interface FirstPass {
  readonly session: Session;
  /** When the store's scan must find the instance. */
  wakeAt(): number | null;
  /** Called just before this state is stored, with its time. */
  wrote(state: string, now: number): void;
  /** Called when the store has this state, and no event for its waits. */
  foundNoEvents(): void;
  /** Called when others wait for slots of these keys, or items of the instance do. */
  mustLookAt(keys: readonly LimitKey[]): void;
}

/** What is stored together with the instance. */
export interface InsertedChanges extends Pick<InsertInstance, 'side'> {
  readonly slots: InsertInstance['slots'] | undefined;
}

/** How a start ended. One whose slots aren't free is inserted again, and waits for them. */
export type StartResult = Exclude<InsertInstanceResult, { readonly outcome: 'no-slots' }>;

/**
 * Stores a new instance in its current state. `refused`: nothing is stored, because slots aren't free: the steps must wait for them. `inserted-before`: an earlier state was stored while the pass was running, and
 * the current one must be committed. `not-inserted`: another caller has started the instance, or it must not start: this actor
 * must stop.
 */
export type Insert = (
  /** Null: store the initial state. */
  firstPass: FirstPass | null,
  changes: InsertedChanges,
) => Promise<InsertionOutcome>;

type InsertionOutcome =
  'inserted' | 'inserted-before' | 'not-inserted' | { readonly refused: readonly RefusedSlots[] };

/** Inserts a new instance once: with the result of its first pass or, if the pass takes too long, in its initial state. */
export class FirstInsertion {
  readonly result: Promise<StartResult>;
  readonly #insert: (
    firstPass: FirstPass | null,
    changes: InsertedChanges,
  ) => Promise<InsertInstanceResult>;
  #settle: (result: StartResult) => void = () => undefined;
  #fail: (error: unknown) => void = () => undefined;
  #begun: Promise<InsertInstanceResult> | null = null;

  constructor(
    insert: (
      firstPass: FirstPass | null,
      changes: InsertedChanges,
    ) => Promise<InsertInstanceResult>,
  ) {
    this.#insert = insert;
    this.result = new Promise((resolve, reject) => {
      this.#settle = resolve;
      this.#fail = reject;
    });
  }

  /** Called when the first pass takes too long: stores the instance in its initial state. */
  early(): void {
    // `result` has the error.
    this.#begin(null, new UnsavedChanges()).catch(() => undefined);
  }

  async withFirstPass(
    firstPass: FirstPass | null,
    changes: InsertedChanges,
  ): Promise<InsertionOutcome> {
    const isFirst = this.#begun === null;
    const result = await this.#begin(firstPass, changes);
    if (result.outcome === 'no-slots') return { refused: result.refused };
    if (result.outcome !== 'inserted') return 'not-inserted';
    return isFirst ? 'inserted' : 'inserted-before';
  }

  #begin(firstPass: FirstPass | null, changes: InsertedChanges): Promise<InsertInstanceResult> {
    this.#begun ??= this.#insertOnce(firstPass, changes);
    return this.#begun;
  }

  async #insertOnce(
    firstPass: FirstPass | null,
    changes: InsertedChanges,
  ): Promise<InsertInstanceResult> {
    try {
      const result = await this.#insert(firstPass, changes);
      if (result.outcome === 'no-slots') this.#begun = null;
      else this.#settle(result);
      return result;
    } catch (error) {
      this.#fail(error);
      throw error;
    }
  }
}
