/**
 * What has changed and was not told yet, of bounded size: each instance counts once, however often it changed, and too
 * many of them become one word: something changed, look again.
 */
import type { ChangeBatch, WorkflowChange } from '../../backplane/backplane.js';

/** More instances than this, or as many definitions, are not told one by one. */
const PENDING_MAX = 1000;

export class ChangeBuffer {
  #workflows = new Map<string, WorkflowChange>();
  #definitions = new Map<string, number>();
  #lagged = false;

  get isEmpty(): boolean {
    return !this.#lagged && this.#workflows.size === 0 && this.#definitions.size === 0;
  }

  addWorkflow(change: WorkflowChange): void {
    if (this.#lagged) return;
    const known = this.#workflows.get(change.id);
    // What another node did before a take-over may be heard of after what was done here since.
    if (known !== undefined && known.lastChangeTime > change.lastChangeTime) return;
    this.#workflows.set(change.id, change);
    if (this.#workflows.size > PENDING_MAX) this.lag();
  }

  addDefinition(id: string, version: number): void {
    if (this.#lagged) return;
    this.#definitions.set(id, Math.max(version, this.#definitions.get(id) ?? 0));
    if (this.#definitions.size > PENDING_MAX) this.lag();
  }

  /** More changed than can be told. */
  lag(): void {
    this.#workflows.clear();
    this.#definitions.clear();
    this.#lagged = true;
  }

  /** All of it; the buffer is empty afterwards. */
  take(): ChangeBatch {
    const batch = {
      workflows: [...this.#workflows.values()],
      definitions: [...this.#definitions].map(([id, version]) => ({ id, version })),
      lagged: this.#lagged,
    };
    this.#workflows.clear();
    this.#definitions.clear();
    this.#lagged = false;
    return batch;
  }
}
