/**
 * A bounded buffer of unreported changes: each instance counts once, however often it changes. Too many changes are replaced by
 * a single notice that something changed and the lists must be read again.
 */
import type { ChangeBatch, ChangedInstance } from '../../backplane/backplane.js';

/** Beyond this number of instances, or of definitions, changes are not reported individually. */
const PENDING_MAX = 1000;

export class ChangeBuffer {
  #workflows = new Map<string, ChangedInstance>();
  #definitions = new Map<string, number>();
  #lagged = false;

  get isEmpty(): boolean {
    return !this.#lagged && this.#workflows.size === 0 && this.#definitions.size === 0;
  }

  addInstance(change: ChangedInstance): void {
    if (this.#lagged) return;
    const known = this.#workflows.get(change.id);
    // Another node's change before a takeover may be reported after later changes of this node.
    if (known !== undefined && known.lastChangeTime > change.lastChangeTime) return;
    this.#workflows.set(change.id, change);
    if (this.#workflows.size > PENDING_MAX) this.lag();
  }

  addDefinition(id: string, version: number): void {
    if (this.#lagged) return;
    this.#definitions.set(id, Math.max(version, this.#definitions.get(id) ?? 0));
    if (this.#definitions.size > PENDING_MAX) this.lag();
  }

  /** Records that more has changed than can be reported. */
  lag(): void {
    this.#workflows.clear();
    this.#definitions.clear();
    this.#lagged = true;
  }

  /** Takes all changes; the buffer is empty afterwards. */
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
