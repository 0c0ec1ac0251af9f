/** Debounce: an instance whose first step waits, and which starts of the same definition and key join in the meantime. */
import type { JsonObject } from '../values/json.js';

/** What becomes of the data of the starts: the last one's, the first one's, or all of them in `items`. */
export const DEBOUNCE_DATA = ['last', 'first', 'list'] as const;
export type DebounceData = (typeof DEBOUNCE_DATA)[number];

/** Maximum number of starts whose data is collected; with these, the instance begins. */
export const COLLECTED_MAX = 1000;
/** The default of Max, as a multiple of Period. */
export const MAX_PERIODS = 10;

/** What a start asks for. */
export interface StartDebounce {
  /** Empty: the one window of all starts without a key. */
  readonly key: string;
  readonly periodMs: number;
  readonly maxMs: number;
  readonly data: DebounceData;
  /** Maximum size of what is collected, in bytes of JSON; an item that doesn't fit lets the instance begin without it. */
  readonly lengthMax: number;
}

/** The window of an instance, which is kept after it has closed. */
export interface DebounceWindow extends Pick<StartDebounce, 'key' | 'data' | 'lengthMax'> {
  /** The first step begins at this time at the latest. */
  readonly latest: number;
  /** Number of starts, including the first one. */
  readonly starts: number;
  /** The size of `items`. */
  readonly length: number;
  /** The ids of the newest starts that have joined, so that none joins twice. */
  readonly joins: readonly string[];
  /** What the starts gave, before the defaults of Input. Omitted if the store has it. */
  readonly input?: JsonObject;
  /** It takes no further start, although the first step may still wait. */
  readonly isClosed?: true;
}

/** The data with which an instance of this start begins. */
export function collectedFrom(debounce: StartDebounce | undefined, data: JsonObject): JsonObject {
  return debounce?.data === 'list' ? { items: [data] } : data;
}
