/** The documents of turns: see turns.ts. */
import type { Priority } from '../../engine/model/start-options.js';

/** Keys as stored. */
export interface LineTurns {
  readonly present: number;
  readonly keys: readonly { readonly key: string; readonly turn: number; readonly since: number }[];
}

/** One for each priority. */
export interface PriorityTurns extends LineTurns {
  readonly priority: Priority;
}

/** The turns of the items of a name that have a priority. */
export interface TurnsDocument extends LineTurns {
  readonly _id: string;
  /** Changes with every hand-out. */
  readonly token: string;
  readonly at: number;
}
