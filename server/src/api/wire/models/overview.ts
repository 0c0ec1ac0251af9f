/** The wire types of the overview. */
import type { ActivityQueue } from './activity.js';
import type { Time } from './time.js';

/**
 * The number of runs in each status.
 */
export interface StatusCounts {
  /** @isInt */
  runnable: number;
  /** @isInt */
  suspended: number;
  /** @isInt */
  complete: number;
  /** @isInt */
  terminated: number;
}

/**
 * The open runs of a definition.
 */
export interface OpenRunCounts {
  definitionId: string;
  /**
   * At most 1,000.
   * @isInt
   */
  runnable: number;
  /**
   * At most 1,000.
   * @isInt
   */
  suspended: number;
  /**
   * False if there may be more.
   */
  exact: boolean;
}

/**
 * What happened in one minute or hour.
 */
export interface OverviewBucket {
  /**
   * The start of the minute or hour. ISO 8601, UTC.
   */
  from: Time;
  /**
   * The number of runs that started, including child runs.
   * @isInt
   */
  started: number;
  /**
   * The number of runs that ended with the outcome `Succeeded`.
   * @isInt
   */
  succeeded: number;
  /**
   * The number of runs that ended with the outcome `Failed`.
   * @isInt
   */
  failed: number;
  /**
   * The number of runs that ended with the outcome `Compensated` or `Terminated`.
   * @isInt
   */
  stopped: number;
  /**
   * The mean time from start to end of the runs that ended, in milliseconds; null if none ended.
   */
  meanMs: number | null;
  /**
   * The longest time from start to end, in milliseconds; null if none ended.
   */
  longestMs: number | null;
}

/**
 * The number of nodes.
 */
export interface NodeCounts {
  /** @isInt */
  alive: number;
  /**
   * Nodes that recently stopped without signing off.
   * @isInt
   */
  dead: number;
}

/**
 * Statistics for the whole server, at most a few seconds old.
 *
 * @example {
 *   "time": "2026-05-04T10:20:30.123Z",
 *   "countedSince": "2026-05-04T06:00:00.000Z",
 *   "runs": { "runnable": 12, "suspended": 1, "complete": 40210, "terminated": 3 },
 *   "runsTime": "2026-05-04T10:20:30.123Z",
 *   "definitions": [{ "definitionId": "order", "runnable": 12, "suspended": 1, "exact": true }],
 *   "definitionsExact": true,
 *   "lastHour": [
 *     {
 *       "from": "2026-05-04T10:20:00.000Z",
 *       "started": 7,
 *       "succeeded": 6,
 *       "failed": 0,
 *       "stopped": 1,
 *       "meanMs": 812.5,
 *       "longestMs": 4010
 *     }
 *   ],
 *   "lastDay": [],
 *   "queues": [],
 *   "unattendedQueues": 0,
 *   "nodes": { "alive": 2, "dead": 0 }
 * }
 */
export interface Overview {
  /**
   * When the numbers were read. ISO 8601, UTC.
   */
  time: Time;
  /**
   * When the longest-running node started. `lastHour` and `lastDay` don't include anything older, or the counts of stopped nodes.
   * ISO 8601, UTC.
   */
  countedSince: Time;
  /**
   * Runs by status; null if the store doesn't respond, and for callers with a narrowed scope.
   */
  runs: StatusCounts | null;
  /**
   * When the runs were counted. In a large store, that happens every few minutes. ISO 8601, UTC.
   */
  runsTime: Time;
  /**
   * Definitions with open runs, those with the most first.
   */
  definitions: OpenRunCounts[];
  /**
   * False if there were too many definitions to look at all of them: only the first 100, ordered by id, are included.
   */
  definitionsExact: boolean;
  /**
   * Each of the last 60 minutes, the current one last. Empty for callers whose scope is narrowed.
   */
  lastHour: OverviewBucket[];
  /**
   * Each of the last 24 hours, the current one last. Empty for callers whose scope is narrowed.
   */
  lastDay: OverviewBucket[];
  /**
   * The queues of activities with waiting items, the one with the oldest item first; at most 10. Empty for callers whose scope
   * is narrowed.
   */
  queues: ActivityQueue[];
  /**
   * The number of queues with waiting items for which no poll is waiting.
   * @isInt
   */
  unattendedQueues: number;
  nodes: NodeCounts;
}
