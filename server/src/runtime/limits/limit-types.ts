/** Limits, as clients set them up and see them. Times are milliseconds since 1970. */
import type { LimitSettings } from '../../engine/model/limit.js';

/** A limit that steps of any definition share. */
export interface Limit extends LimitSettings {
  readonly name: string;
}

/** A limit to set up. */
export interface PostedLimit {
  /** Parsed JSON or YAML. */
  readonly document: unknown;
  /** The original text of a number; default: unknown. */
  readonly writtenNumber?: (pointer: string) => string | null;
  readonly actor: string;
}

export interface LimitView extends Limit, LimitUse {
  /** The actor who first set it up. */
  readonly createdBy: string;
  readonly updatedAt: number;
}

/** What steps hold of a limit, and what they wait for. */
export interface LimitUse {
  /** In units. */
  readonly held: number;
  /** The number of steps. */
  readonly waiting: number;
  /** At most 100, with the most waiting steps first. */
  readonly keys: readonly LimitKeyUse[];
}

export interface LimitKeyUse {
  /** Null: the steps without a key. */
  readonly key: string | null;
  readonly held: number;
  readonly waiting: number;
  /** Null if no step waits. */
  readonly oldestWaitSince: number | null;
}
