/** The documents of slots: see slot-keys.ts. */
import type { Priority } from '../../engine/model/start-options.js';
import type { FairnessFields } from './fairness-fields.js';
import type { PriorityTurns } from './turn-documents.js';

/** `on`: limit and key, see `onOf`. */
export interface NeedDocument {
  readonly on: string;
  readonly units: number;
}

export interface SlotDocument extends NeedDocument {
  readonly execution: string;
  /** The id of the wait that was granted; absent once the execution has begun. */
  readonly grant?: string;
}

export interface SlotWaitEntry {
  readonly execution: string;
  /** Unique to this wait. */
  readonly id: string;
  readonly needs: readonly NeedDocument[];
}

/** An instance as a commit expects it. */
export interface CommitGuard {
  readonly epoch: number;
  readonly inSeq: number;
  readonly revision: number;
}

/** By the id of the wait. Written before its instance lists the wait, and removed after that. */
export interface SlotWaitDocument extends Omit<SlotWaitEntry, 'id'>, FairnessFields {
  readonly _id: string;
  readonly instanceId: string;
  readonly on: string;
  readonly priority: Priority;
  readonly since: number;
  /** What the instance says counts. */
  readonly state: 'waiting' | 'granted';
  /** When it may begin, once it is granted. */
  readonly at: number;
  /** Of the commit that adds it; null: it came with its instance. */
  readonly guard: CommitGuard | null;
}

/** Slots that are about to be taken. What takes them: a commit, an insert, a claim of an item, or the grant of a wait. */
export interface TakingDocument {
  readonly id: string;
  readonly execution: string;
  readonly instanceId: string;
  readonly units: number;
  readonly at: number;
  readonly commit?: CommitGuard;
  /** See slot-starts.ts. */
  readonly attempt?: string;
  /** The `slotTry` that the claim expects. */
  readonly slotTry?: string;
  /** The id of the wait. */
  readonly grant?: string;
}

/** The budget of a limit for one key, by `on`: see slot-keys.ts. */
export interface LimitKeyDocument {
  readonly _id: string;
  /** Changes with every decision. */
  readonly token: string;
  readonly at: number;
  readonly spentUntil: number;
  /** No more units than this are held; null: unknown. */
  readonly heldMax: number | null;
  readonly takings: readonly TakingDocument[];
  /** Of those that wait for the key. */
  readonly turns?: readonly PriorityTurns[];
}
