/** Batches changes, so that a busy server doesn't keep the page rerendering. */
import type { Change, ChangedWorkflow } from '@stepwright/sdk';

/** The changes since the last batch; several changes of one run are merged. */
export interface LiveBatch {
  readonly workflows: ReadonlyMap<string, ChangedWorkflow>;
  readonly definitions: ReadonlySet<string>;
  /** Some changes are missing: lists must be fetched again. */
  readonly lag: boolean;
}

/** The minimum time between two batches. */
const FLUSH_MS = 200;
/** More changes are replaced by `lag`, because a frozen tab may not take batches for hours. */
const CHANGES_MAX = 5000;

export class ChangeBuffer {
  readonly #onBatch: (batch: LiveBatch) => void;
  #workflows = new Map<string, ChangedWorkflow>();
  #definitions = new Set<string>();
  #lag = false;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #isTaken = true;

  /** @param onBatch gets a batch; the next one follows only after `acknowledge` */
  constructor(onBatch: (batch: LiveBatch) => void) {
    this.#onBatch = onBatch;
  }

  add(change: Change): void {
    if (change.type === 'lag') this.#lag = true;
    else if (change.type === 'definition') this.#definitions.add(change.id);
    else this.#workflows.set(change.workflow.workflowId, change.workflow);
    if (this.#workflows.size + this.#definitions.size > CHANGES_MAX) {
      this.#workflows = new Map();
      this.#definitions = new Set();
      this.#lag = true;
    }
    this.#schedule();
  }

  /** The receiver has handled the last batch. */
  acknowledge(): void {
    this.#isTaken = true;
    if (this.#lag || this.#workflows.size + this.#definitions.size > 0) this.#schedule();
  }

  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#isTaken = false;
  }

  #schedule(): void {
    if (this.#isTaken) this.#timer ??= setTimeout(() => this.#flush(), FLUSH_MS);
  }

  #flush(): void {
    const batch = { workflows: this.#workflows, definitions: this.#definitions, lag: this.#lag };
    this.#workflows = new Map();
    this.#definitions = new Set();
    this.#lag = false;
    this.#timer = null;
    this.#isTaken = false;
    this.#onBatch(batch);
  }
}
