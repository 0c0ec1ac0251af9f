/**
 * A node's report in each heartbeat, in addition to the fields that the fleet needs: its load, and its polling workers.
 *
 * The details are text in the heartbeat's record. Other versions of the server may report more or less; anything that cannot be
 * read is omitted.
 */
import { isJsonObject, type JsonObject } from '../../engine/values/json.js';
import type { NodeRecord } from '../../store/records/nodes.js';
import { HOURS, MINUTES, NO_RUNS, type RunBucket, type RunHistoryReport } from './run-history.js';
import type { ClaimTime } from '../workers/claim-times.js';
import type { PollCount } from '../workers/poll-counts.js';
import type { PolledActivity, SeenWorker } from '../workers/worker-registry.js';

/** Maximum number of names in a record. */
export const POLLED_NAMES_MAX = 100;
/** Maximum number of workers in a record, and of the times at which they got their items. */
export const REPORTED_WORKERS_MAX = 100;
export const REPORTED_CLAIM_TIMES_MAX = 100;
const REPORTED_ACTIVITIES_MAX = 32;
/** Every node reads all nodes' records every few seconds, and ids and names can be long. */
const REPORTED_WORKERS_LENGTH_MAX = 32_000;

export interface NodeLoad {
  readonly instancesInMemory: number;
  /** HTTP calls and scripts. */
  readonly callsUnderWay: number;
  readonly parkedPolls: number;
  readonly memoryBytes: number;
  /** Since the previous heartbeat; 100 is one processor core. */
  readonly cpuPercent: number;
  /** How long ready work waited to run. */
  readonly eventLoopDelayMs: number;
}

export interface NodeDetails {
  /** Milliseconds since 1970. */
  readonly startTime: number;
  readonly load: NodeLoad;
  readonly pollers: readonly PollCount[];
  /** Empty if the node does not report them. */
  readonly workers: readonly SeenWorker[];
  /** When workers got their items. The name is stored. */
  readonly handOuts: readonly ClaimTime[];
  /** Empty if the node does not report it. */
  readonly history: RunHistoryReport;
  readonly backplane: { readonly kind: string; readonly connected: boolean };
}

/**
 * `followedUntil` isn't shown to users: at the time of the heartbeat, the follow-up of all the node's commits before that time
 * was complete.
 */
export function writeDetails(
  details: NodeDetails,
  followedUntil: number,
  archives = false,
): string {
  const workers = upToLength(details.workers, REPORTED_WORKERS_LENGTH_MAX);
  return JSON.stringify({
    ...details,
    workers,
    followedUntil,
    bindsLeases: true,
    ...(archives && { archives }),
  });
}

function upToLength<Item>(items: readonly Item[], lengthMax: number): readonly Item[] {
  let length = 0;
  const end = items.findIndex((item) => (length += JSON.stringify(item).length) > lengthMax);
  return end < 0 ? items : items.slice(0, end);
}

/** Null if the node does not report it, such as a node of an earlier version. */
export function readFollowedUntil(text: string | null): number | null {
  const value = parse(text);
  const time = isJsonObject(value) ? value['followedUntil'] : null;
  return isTime(time) ? time : null;
}

/** True if the node archives runs before they are removed. Nodes of earlier versions don't report it. */
export function readArchives(text: string | null): boolean {
  const value = parse(text);
  return isJsonObject(value) && value['archives'] === true;
}

/** True if the node can read work tokens with an authenticated lease. Nodes of earlier versions can't. */
export function readBindsLeases(text: string | null): boolean {
  const value = parse(text);
  return isJsonObject(value) && value['bindsLeases'] === true;
}

/**
 * Whether all nodes of the fleet can read work tokens with an authenticated lease: nodes of earlier versions reject them.
 * Called for each claim, so each record is read only once.
 */
export function leaseBinding(others: () => readonly NodeRecord[]): () => boolean {
  const known = new WeakMap<NodeRecord, boolean>();
  const binds = (node: NodeRecord): boolean => {
    const found = known.get(node) ?? readBindsLeases(node.details);
    known.set(node, found);
    return found;
  };
  return () => others().every(binds);
}

/** Null if there are none, or this version can't read them. */
export function readDetails(text: string | null): NodeDetails | null {
  const value = parse(text);
  if (!isJsonObject(value)) return null;
  const { backplane, handOuts, history, load, pollers, startTime, workers } = value;
  if (!isTime(startTime) || !isJsonObject(backplane)) return null;
  const { connected, kind } = backplane;
  const read = isJsonObject(load) ? loadOf(load) : null;
  if (read === null || typeof kind !== 'string' || typeof connected !== 'boolean') return null;
  return {
    startTime,
    load: read,
    pollers: readList(pollers, POLLED_NAMES_MAX, pollersOf),
    workers: readList(workers, REPORTED_WORKERS_MAX, workersOf),
    handOuts: readList(handOuts, REPORTED_CLAIM_TIMES_MAX, claimTimesOf),
    history: historyOf(history),
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

/** `read` returns one item, or null if this version can't read it. */
function readList<Item>(
  value: unknown,
  max: number,
  read: (item: unknown) => readonly Item[],
): readonly Item[] {
  return Array.isArray(value) ? value.slice(0, max).flatMap(read) : [];
}

function workersOf(value: unknown): readonly SeenWorker[] {
  if (!isJsonObject(value)) return [];
  const { activities, address, host, lastPollAt, version, workerId } = value;
  if (typeof workerId !== 'string' || !isTime(lastPollAt)) return [];
  return [
    {
      workerId,
      host: textOrNull(host),
      version: textOrNull(version),
      address: textOrNull(address),
      lastPollAt,
      activities: readList(activities, REPORTED_ACTIVITIES_MAX, polledOf),
    },
  ];
}

function polledOf(value: unknown): readonly PolledActivity[] {
  if (!isJsonObject(value)) return [];
  const { lastPollAt, name, polling } = value;
  if (typeof name !== 'string' || !isNumber(polling) || !isTime(lastPollAt)) return [];
  return [{ name, polling, lastPollAt }];
}

function claimTimesOf(value: unknown): readonly ClaimTime[] {
  if (!isJsonObject(value)) return [];
  const { activityId, at } = value;
  return typeof activityId === 'string' && isTime(at) ? [{ activityId, at }] : [];
}

function historyOf(value: unknown): RunHistoryReport {
  if (!isJsonObject(value)) return { minutes: [], hours: [] };
  const { hours, minutes } = value;
  return {
    minutes: readList(minutes, MINUTES, bucketsOf),
    hours: readList(hours, HOURS, bucketsOf),
  };
}

function bucketsOf(value: unknown): readonly RunBucket[] {
  if (!isJsonObject(value)) return [];
  const { at } = value;
  if (!isNumber(at)) return [];
  const counts = Object.keys(NO_RUNS).map((name) => [name, value[name]]);
  if (!counts.every(([, count]) => isNumber(count))) return [];
  return [{ at, ...(Object.fromEntries(counts) as typeof NO_RUNS) }];
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
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
