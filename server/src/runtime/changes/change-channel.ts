/**
 * The changes that match one filter, for all listeners with that filter. They share batches, so that each is built and
 * serialized once.
 */
import type { ChangeBatch, ChangedInstance } from '../../backplane/backplane.js';
import type { Clock } from '../../base/clock.js';
import { allowsName } from '../../base/allowed-names.js';
import { ChangeBuffer } from './change-buffer.js';

/** Minimum interval between batches; later changes go into the next batch. */
const BATCH_INTERVAL_MS = 100;

/** All given members must match. */
export interface ChangeFilter {
  readonly workflowId?: string;
  readonly definitionId?: string;
  /** Prefixes of definition ids. */
  readonly definitionPrefixes?: readonly string[];
}

/** A listener of the channel. */
export interface BatchReceiver {
  /** True while it waits for the next batch. */
  readonly isWaiting: boolean;
  add(batch: ChangeBatch): void;
  close(): void;
}

export class ChangeChannel {
  readonly watches = new Set<BatchReceiver>();
  readonly #clock: Clock;
  readonly #filter: ChangeFilter;
  readonly #buffer = new ChangeBuffer();
  #takenAt = 0;
  #cancelTimer: (() => void) | null = null;
  #isTaking = false;

  constructor(clock: Clock, filter: ChangeFilter) {
    this.#clock = clock;
    this.#filter = filter;
  }

  instanceChanged(change: ChangedInstance): void {
    const { definitionId, definitionPrefixes = 'all', workflowId } = this.#filter;
    if (!allowsName(definitionPrefixes, change.definitionId)) return;
    if (workflowId !== undefined && workflowId !== change.id) return;
    if (definitionId !== undefined && definitionId !== change.definitionId) return;
    this.#buffer.addInstance(change);
    this.#changed();
  }

  definitionChanged(id: string, version: number): void {
    const { definitionId, definitionPrefixes = 'all', workflowId } = this.#filter;
    if (!allowsName(definitionPrefixes, id)) return;
    if (workflowId !== undefined || (definitionId !== undefined && definitionId !== id)) return;
    this.#buffer.addDefinition(id, version);
    this.#changed();
  }

  lag(): void {
    this.#buffer.lag();
    this.#changed();
  }

  /** Called when a listener waits for changes. */
  asked(): void {
    this.#whenDue(() => this.#take());
  }

  /** Changes at the same moment go into one batch. */
  #changed(): void {
    if (this.#isTaking) return;
    this.#whenDue(() => {
      this.#isTaking = true;
      queueMicrotask(() => {
        this.#isTaking = false;
        this.#take();
      });
    });
  }

  #whenDue(take: () => void): void {
    if (this.#buffer.isEmpty || this.#cancelTimer !== null || !this.#isWanted()) return;
    const dueAt = this.#takenAt + BATCH_INTERVAL_MS;
    if (this.#clock.now() >= dueAt) take();
    else {
      this.#cancelTimer = this.#clock.at(dueAt, () => {
        this.#cancelTimer = null;
        this.#take();
      });
    }
  }

  /** Removes a listener. */
  removeWatch(watch: BatchReceiver): void {
    this.watches.delete(watch);
    if (this.#isWanted()) return;
    this.#cancelTimer?.();
    this.#cancelTimer = null;
  }

  #isWanted(): boolean {
    for (const { isWaiting } of this.watches) if (isWaiting) return true;
    return false;
  }

  #take(): void {
    if (this.#buffer.isEmpty || !this.#isWanted()) return;
    this.#takenAt = this.#clock.now();
    const batch: ChangeBatch = this.#buffer.take();
    for (const watch of this.watches) watch.add(batch);
  }
}

/** Equal for filters that match the same changes. */
export function channelKey(filter: ChangeFilter): string {
  const { definitionId = null, definitionPrefixes = null, workflowId = null } = filter;
  return JSON.stringify([workflowId, definitionId, definitionPrefixes]);
}
