/**
 * What a node reports about itself with each heartbeat, in addition to what the fleet needs to work: its load, and who
 * polls it.
 *
 * The details are text in the record that the heartbeat writes anyway. Other versions of the server may report more or
 * less; anything that cannot be read is omitted.
 */
import { isJsonObject, type JsonObject } from '../../engine/values/json.js';
import type { PollCount } from '../activities/poll-counts.js';

/** Maximum number of names in a record. */
export const POLLED_NAMES_MAX = 100;

export interface NodeLoad {
  readonly instancesInMemory: number;
  /** HTTP calls and scripts. */
  readonly callsUnderWay: number;
  readonly parkedPolls: number;
  readonly memoryBytes: number;
  /** Since the previous heartbeat; 100 is one processor core. */
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
 * `followedUntil` is not for people: when the heartbeat was written, the follow-up work of all commits of the node before
 * that time was complete.
 */
export function writeDetails(details: NodeDetails, followedUntil: number): string {
  return JSON.stringify({ ...details, followedUntil });
}

/** Null if the node does not report it, such as a node of an earlier version. */
export function readFollowedUntil(text: string | null): number | null {
  const value = parse(text);
  const time = isJsonObject(value) ? value['followedUntil'] : null;
  return isTime(time) ? time : null;
}

/** Null if there are none, or none that this version can read. */
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
