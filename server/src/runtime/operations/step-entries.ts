/** What a walk through the executions of an instance meets, and how far a page may walk. */
import type { Instance } from '../../engine/model/instance.js';
import type { Store } from '../../store/store.js';
import type { StepView } from './instance-types.js';
import type { ViewContext } from './instance-views.js';

export interface Entry {
  readonly executionId: number;
  readonly stepId: string;
  readonly attempt: number;
  /** A failed attempt, after which another may follow. */
  readonly hasFailed: boolean;
  /** Characters of the stored record; 0 for what the instance itself contains. */
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

/** The only way to search the history is to read it: what a page may read, in entries and in characters of stored records. */
const ENTRIES_READ_MAX = 2000;
const CHARACTERS_READ_MAX = 16 * 1024 * 1024;

/** What one page may still read. It reads at least one entry, so that a list always comes to its end. */
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
