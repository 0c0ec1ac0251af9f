/** One listener's view of the change feed: changes that match its filter, collected until it asks for the next batch. */
import type { ChangeBatch, WorkflowChange } from '../../backplane/backplane.js';
import { reaches } from '../../base/name-reach.js';
import { ChangeBuffer } from './change-buffer.js';
import type { Clock } from '../../base/clock.js';

/** Minimum interval between batches of one listener; later changes go into the next batch. */
const BATCH_INTERVAL_MS = 100;

/** All given members must match. */
export interface ChangeFilter {
  readonly workflowId?: string;
  readonly definitionId?: string;
  /** Of the ids of definitions. */
  readonly definitionPrefixes?: readonly string[];
}

export interface ChangeListener {
  /** The next changes, immediately if there are some; an empty batch after `waitMs`; null if the server is stopping. */
  next(waitMs: number): Promise<ChangeBatch | null>;
  /** Must be called at the end; may be called twice. */
  close(): void;
}

export class ChangeWatch implements ChangeListener {
  readonly #clock: Clock;
  readonly #filter: ChangeFilter;
  readonly #closed: (watch: ChangeWatch) => void;
  readonly #buffer = new ChangeBuffer();
  #isClosed = false;
  #takenAt = 0;
  #wake: () => void = () => undefined;

  /** `closed` is called once. */
  constructor(clock: Clock, filter: ChangeFilter, closed: (watch: ChangeWatch) => void) {
    this.#clock = clock;
    this.#filter = filter;
    this.#closed = closed;
  }

  workflowChanged(change: WorkflowChange): void {
    const { definitionId, definitionPrefixes = 'all', workflowId } = this.#filter;
    if (!reaches(definitionPrefixes, change.definitionId)) return;
    if (workflowId !== undefined && workflowId !== change.id) return;
    if (definitionId !== undefined && definitionId !== change.definitionId) return;
    this.#buffer.addWorkflow(change);
    this.#wake();
  }

  definitionChanged(id: string, version: number): void {
    const { definitionId, definitionPrefixes = 'all', workflowId } = this.#filter;
    if (!reaches(definitionPrefixes, id)) return;
    if (workflowId !== undefined || (definitionId !== undefined && definitionId !== id)) return;
    this.#buffer.addDefinition(id, version);
    this.#wake();
  }

  lag(): void {
    this.#buffer.lag();
    this.#wake();
  }

  async next(waitMs: number): Promise<ChangeBatch | null> {
    const deadline = this.#clock.now() + waitMs;
    await this.#until(this.#takenAt + BATCH_INTERVAL_MS, () => this.#isClosed);
    await this.#until(deadline, () => this.#isClosed || !this.#buffer.isEmpty);
    if (this.#isClosed) return null;
    this.#takenAt = this.#clock.now();
    return this.#buffer.take();
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#closed(this);
    this.#wake();
  }

  /** Resolves when `holds` returns true or the time has come. */
  async #until(time: number, holds: () => boolean): Promise<void> {
    if (holds() || this.#clock.now() >= time) return;
    await new Promise<void>((resolve) => {
      const cancel = this.#clock.at(time, resolve);
      this.#wake = () => {
        if (!holds()) return;
        cancel();
        resolve();
      };
    });
    this.#wake = () => undefined;
  }
}
