/** Durations and debounced starts in tests. */
import type { DebounceData } from '../engine/model/debounce.js';
import type { DebounceRequest } from '../runtime/model/instance-types.js';
import { ADVANCE_FORMS, readAdvance } from './duration-text.js';

/** Durations are as in `advance`. */
export interface TestDebounce {
  readonly period: string | number;
  /** @default all starts without a key */
  readonly key?: string;
  /** @default ten times the period */
  readonly max?: string | number;
  /** @default 'last' */
  readonly data?: DebounceData;
}

export function debounceOf({ data, key, max, period }: TestDebounce): DebounceRequest {
  return {
    periodMs: milliseconds(period),
    key: key ?? null,
    ...(max !== undefined && { maxMs: milliseconds(max) }),
    ...(data !== undefined && { data }),
  };
}

/** @throws TypeError if it is no duration */
export function milliseconds(duration: string | number): number {
  const ms = readAdvance(duration);
  if (ms === null) throw new TypeError(`'${duration}' is not a duration; use ${ADVANCE_FORMS}`);
  return ms;
}
