/** What `debounce` means for a start: when it begins, and which window it joins. */
import { MAX_PERIODS, type StartDebounce } from '../../engine/model/debounce.js';
import { isWindowed, type NewInstance } from '../instance-state/new-instance.js';
import type { DebounceView, StartRequest } from '../model/instance-types.js';
import type { RequestedStart } from './start-admission.js';
import type { Insertion } from './start-insertion.js';

/** @param lengthMax of what is collected, in bytes of JSON */
export function debounceOf(
  { debounce }: StartRequest,
  lengthMax: number,
): StartDebounce | undefined {
  if (debounce === undefined) return undefined;
  const { data = 'last', key, periodMs, maxMs = periodMs * MAX_PERIODS } = debounce;
  return { key: key ?? '', periodMs, maxMs, data, lengthMax };
}

/** The instance whose window a start joins. */
export interface JoinedWindow {
  readonly instanceId: string;
  readonly mayHaveJoined: boolean;
}

/** Null: the insertion is the answer. */
export function joinedWindowOf(
  { result, start }: Insertion,
  asked: RequestedStart,
): JoinedWindow | null {
  if (result.outcome === 'window') return { instanceId: result.instanceId, mayHaveJoined: false };
  if (result.outcome !== 'joined-before' || result.byWindow !== true) return null;
  const { record, requestHash } = result;
  // The answer is a conflict.
  if (requestHash !== start.requestHash || !isWindowed(asked.start)) return null;
  return { instanceId: record.id, mayHaveJoined: true };
}

export function viewStartDebounce(start: NewInstance): DebounceView | null {
  const { debounce, startAt = null, startTime } = start;
  if (debounce === undefined) return null;
  const { data, key, maxMs } = debounce;
  const until = isWindowed(start) ? startAt : null;
  return { key: key === '' ? null : key, data, until, latest: startTime + maxMs, starts: 1 };
}

export function startAtOf(
  { delayMs, startAt }: StartRequest,
  startTime: number,
  debounce: StartDebounce | undefined,
): number | null {
  if (debounce !== undefined) return startTime + Math.min(debounce.periodMs, debounce.maxMs);
  if (delayMs !== undefined) return startTime + delayMs;
  return startAt ?? null;
}
