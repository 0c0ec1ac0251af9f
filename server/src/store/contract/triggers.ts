/** Triggers of definitions. Rules S1–S13: ../store.ts. */
import type { TriggerRecord } from '../records/triggers.js';

export interface TriggerStore {
  /**
   * Inserts the record if `expected` is null and there is none with its id, or replaces the one with the revision `expected`.
   * Otherwise returns false. Of any number of concurrent callers with the same expectation, one wins.
   */
  saveTrigger(trigger: TriggerRecord, expected: number | null): Promise<boolean>;
  /** Removes the record with this id and revision. Otherwise returns false. */
  removeTrigger(id: string, revision: number): Promise<boolean>;
  getTrigger(id: string): Promise<TriggerRecord | null>;
  /** The records of a definition, ordered by id. */
  listTriggers(definitionId: string, limit: number): Promise<readonly TriggerRecord[]>;
  /** Records with `dueAt <= dueBefore`, the earliest first, then by id. */
  findDueTriggers(dueBefore: number, limit: number): Promise<readonly TriggerRecord[]>;
  /** Records with this hash, ordered by id, after `afterId`. */
  findEventTriggers(
    eventHash: string,
    afterId: string | null,
    limit: number,
  ): Promise<readonly TriggerRecord[]>;
}
