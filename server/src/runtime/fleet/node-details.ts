/**
 * What a node tells of itself with each heartbeat, beside what the fleet needs to work: how busy it is, who polls there.
 *
 * It travels in the record that the heartbeat writes anyway, as text. Other versions of the server may tell more or less,
 * and whatever cannot be understood is left out.
 */
import { isJsonObject, type JsonObject } from '../../engine/values/json.js';
import type { PollCount } from '../activities/poll-counts.js';

/** Names that a record has room for. */
export const POLLED_NAMES_MAX = 100;

export interface NodeLoad {
  readonly instancesInMemory: number;
  /** HTTP calls and scripts. */
  readonly callsUnderWay: number;
  readonly parkedPolls: number;
  readonly memoryBytes: number;
  /** Since the beat before; 100 is one processor core. */
  readonly cpuPercent: number;
  /** How long work that was ready had to wait for its turn. */
  readonly eventLoopDelayMs: number;
}

export interface NodeDetails {
  /** Milliseconds since 1970. */
  readonly startTime: number;
  readonly load: NodeLoad;
  readonly pollers: readonly PollCount[];
  readonly backplane: { readonly kind: string; readonly connected: boolean };
}

/**
 * `followedUntil` is not for people: all that had to follow the node's commits of before that time was done when the
 * heartbeat was written.
 */
export function writeDetails(details: NodeDetails, followedUntil: number): string {
  return JSON.stringify({ ...details, followedUntil });
}

/** Null where a node does not tell, such as one of an earlier version. */
export function readFollowedUntil(text: string | null): number | null {
  const value = parse(text);
  const time = isJsonObject(value) ? value['followedUntil'] : null;
  return isTime(time) ? time : null;
}

/** Null where there are none, or none that this version can read. */
export function readDetails(text: string | null): NodeDetails | null {
  const value = parse(text);
  if (!isJsonObject(value)) return null;
  const { backplane, load, pollers, startTime } = value;
  if (!isTime(startTime) || !isJsonObject(backplane)) return null;
  const { connected, kind } = backplane;
  const read = isJsonObject(load) ? loadOf(load) : null;
  if (read === null || typeof kind !== 'string' || typeof connected !== 'boolean') return null;
  return {
    startTime,
    load: read,
    pollers: Array.isArray(pollers) ? pollers.slice(0, POLLED_NAMES_MAX).flatMap(pollersOf) : [],
    backplane: { kind, connected },
  };
}

function parse(text: string | null): unknown {
  try {
    return text === null ? null : JSON.parse(text);
  } catch {
    return null;
  }
}

function loadOf(value: JsonObject): NodeLoad | null {
  const { callsUnderWay, cpuPercent, eventLoopDelayMs, instancesInMemory } = value;
  const { memoryBytes, parkedPolls } = value;
  if (!isNumber(callsUnderWay) || !isNumber(cpuPercent) || !isNumber(eventLoopDelayMs)) return null;
  if (!isNumber(instancesInMemory) || !isNumber(memoryBytes) || !isNumber(parkedPolls)) return null;
  return {
    instancesInMemory,
    callsUnderWay,
    parkedPolls,
    memoryBytes,
    cpuPercent,
    eventLoopDelayMs,
  };
}

function pollersOf(value: unknown): readonly PollCount[] {
  if (!isJsonObject(value)) return [];
  const { lastPollAt, name, parked } = value;
  if (typeof name !== 'string' || !isNumber(parked) || !isTime(lastPollAt)) return [];
  return [{ name, parked, lastPollAt }];
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number';
}

function isTime(value: unknown): value is number {
  return isNumber(value) && Math.abs(value) <= 8.64e15;
}
