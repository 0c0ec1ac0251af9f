/** The entries of a walk through an instance's executions, and the read limit of a page. */
import type { Instance } from '../../engine/model/instance.js';
import type { Store } from '../../store/store.js';
import type { StepView } from '../model/instance-types.js';
import type { ViewContext } from '../instance-state/instance-views.js';

export interface Entry {
  readonly executionId: number;
  readonly stepId: string;
  readonly attempt: number;
  /** A failed attempt, after which another may follow. */
  readonly hasFailed: boolean;
  /** Length of the stored record in characters; 0 for entries in the instance itself. */
  readonly length: number;
  /** The position from which the list continues after this entry. */
  readonly position: readonly string[];
  readonly view: () => StepView;
}

export type Entries = AsyncGenerator<Entry, void, undefined>;

export interface StepSource {
  readonly store: Pick<Store, 'readHistory'>;
  readonly instance: Instance;
  readonly context: ViewContext;
}

export interface Walk extends StepSource {
  /** Where the previous page ended; null for the first page. */
  readonly position: readonly string[] | null;
  readonly blockSize: number;
}

/** The history can only be searched by reading it: the limit of a page, in entries and in characters of stored records. */
const ENTRIES_READ_MAX = 2000;
const CHARACTERS_READ_MAX = 16 * 1024 * 1024;

/** The remaining read budget of one page. It allows at least one entry, so that a list always ends. */
export class ReadBudget {
  #entries = ENTRIES_READ_MAX;
  #characters = CHARACTERS_READ_MAX;

  get isSpent(): boolean {
    return this.#entries <= 0 || this.#characters <= 0;
  }

  spend({ length }: Pick<Entry, 'length'>): void {
    this.#entries -= 1;
    this.#characters -= length;
  }
}
