/** Slots: see ../records/slots.ts. Rules S1–S15: ../store.ts. */
import type {
  GrantRequest,
  LimitKey,
  LimitUse,
  SlotGrants,
  SlotPosition,
} from '../records/slots.js';

export interface SlotStore {
  /**
   * Gives the free slots of a key to those that wait for them, in order of priority, then of turns (rule S17), then of the time since
   * which they wait. Those of suspended instances are passed over. One that also needs another key that isn't free waits for that one from then on.
   * Nobody passes an execution that needs more units than are free.
   *
   * An execution holds its slots from then on, and is returned until a commit says that it has `begun`. An item of an activity
   * gets none: of each name, as many as there are free slots can be claimed again.
   */
  grantSlots(request: GrantRequest): Promise<SlotGrants>;
  /** Keys for which executions wait, or have slots and haven't begun, in order, after the given one. */
  findWaitedKeys(after: LimitKey | null, limit: number): Promise<readonly LimitKey[]>;
  /** The use of these limits, in the same order. For display. */
  countSlots(limits: readonly string[], now: number): Promise<readonly LimitUse[]>;
  /** Why an execution waits; null: it doesn't. For display: those before it are counted by priority and age, whatever their turns. */
  findSlotPosition(execution: string, now: number): Promise<SlotPosition | null>;
}
