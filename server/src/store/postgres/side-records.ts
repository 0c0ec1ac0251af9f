/**
 * Side records, written and removed in the statement that inserts or commits their instances.
 *
 * `source` is the part of that statement with the ids of the instances that were written. Records of other instances are
 * not written (rule S4).
 */
import type { NewActivityRecord } from '../records/activities.js';
import type { HistoryRecord, InstanceCommit, SideRecords } from '../records/instances.js';
import type { SubscriptionRecord } from '../records/events.js';
import type { TurnRecord } from '../records/turns.js';
import { needsText } from '../sql/activities.js';
import { columnsWithin, type Columns } from '../sql/columns.js';
import { SUBSCRIPTION_COLUMNS } from '../sql/events.js';
import { HISTORY_COLUMNS } from '../sql/instances.js';
import { itemsLineOf } from '../sql/item-turns.js';
import type { Parameters } from './parameters.js';
import { turnsLockOf } from './turn-locks.js';

/** The instance with which a record was written, and the record. */
type Owned<Item> = readonly [writtenWith: string, item: Item];

export interface WrittenSide {
  readonly id: string;
  readonly side: SideRecords;
}

const WRITTEN_WITH = ['text', ([id]: Owned<unknown>) => id] as const;

const HISTORY: Columns<Owned<HistoryRecord>> = {
  written_with: WRITTEN_WITH,
  ...columnsWithin(HISTORY_COLUMNS, ([, record]: Owned<HistoryRecord>) => record),
};

const SUBSCRIPTIONS: Columns<Owned<SubscriptionRecord>> = {
  written_with: WRITTEN_WITH,
  ...columnsWithin(SUBSCRIPTION_COLUMNS, ([, record]: Owned<SubscriptionRecord>) => record),
};

const ACTIVITIES: Columns<Owned<NewActivityRecord>> = {
  written_with: WRITTEN_WITH,
  id: ['text', ([, { id }]) => id],
  instance_id: ['text', ([, { instanceId }]) => instanceId],
  name: ['text', ([, { name }]) => name],
  priority: ['number', ([, { priority }]) => priority],
  fairness_key: ['text', ([, { fairness }]) => fairness?.key ?? ''],
  fairness_weight: ['real', ([, { fairness }]) => fairness?.weight ?? 1],
  created_at: ['number', ([, { createdAt }]) => createdAt],
  available_at: ['number', ([, { claim, createdAt }]) => claim?.leaseExpiresAt ?? createdAt],
  attempt: ['number', ([, { claim }]) => (claim === undefined ? 0 : 1)],
  token_hash: ['text', ([, { claim }]) => claim?.tokenHash ?? null],
  worker_id: ['text', ([, { claim }]) => claim?.workerId ?? null],
  needs: ['text', ([, item]) => needsText(item)],
  parameters: ['text', ([, { parameters }]) => parameters],
};

/** Of an item with a fairness key: see turn-locks.ts. */
const TURNS: Columns<Owned<TurnEntry>> = {
  written_with: WRITTEN_WITH,
  queue: ['text', ([, { queue }]) => queue],
  priority: ['number', ([, { priority }]) => priority],
  fairness_key: ['text', ([, { fairnessKey }]) => fairnessKey],
  since: ['number', ([, { since }]) => since],
  lock: ['text', ([, { queue }]) => String(turnsLockOf(queue))],
};

type TurnEntry = Pick<TurnRecord, 'queue' | 'priority' | 'fairnessKey' | 'since'>;

/** A key that enters the queue starts at the present. */
const START = `CASE WHEN n.fairness_key = '' THEN 0 ELSE COALESCE((
       SELECT known.present FROM @turns AS known
        WHERE known.queue = n.queue AND known.priority = n.priority AND known.fairness_key = ''), 0) END`;

function turnEntriesOf([writtenWith, item]: Owned<NewActivityRecord>): readonly Owned<TurnEntry>[] {
  if (item.fairness === undefined) return [];
  const line = itemsLineOf(item);
  return [
    [writtenWith, { ...line, fairnessKey: '', since: 0 }],
    [writtenWith, { ...line, fairnessKey: item.fairness.key, since: item.createdAt }],
  ];
}

const IDS: Columns<Owned<string>> = {
  written_with: WRITTEN_WITH,
  id: ['text', ([, id]) => id],
};

interface Removal {
  readonly id: string;
  readonly at: number;
}

const REMOVALS: Columns<Owned<Removal>> = {
  written_with: WRITTEN_WITH,
  id: ['text', ([, { id }]) => id],
  at: ['number', ([, { at }]) => at],
};

/**
 * An existing activity with the same content keeps its position and its holder; if it has no holder, the claim of the
 * new one applies. Different content replaces it, because the pass that offered the old one wasn't committed.
 */
const IS_SAME = 'a.name = EXCLUDED.name AND a.parameters = EXCLUDED.parameters';
const PUT_ACTIVITY = `
  ON CONFLICT (id) DO UPDATE SET
    instance_id = EXCLUDED.instance_id, name = EXCLUDED.name, parameters = EXCLUDED.parameters,
    priority = CASE WHEN ${IS_SAME} THEN a.priority ELSE EXCLUDED.priority END,
    fairness_key = CASE WHEN ${IS_SAME} THEN a.fairness_key ELSE EXCLUDED.fairness_key END,
    fairness_weight = CASE WHEN ${IS_SAME} THEN a.fairness_weight ELSE EXCLUDED.fairness_weight END,
    created_at = CASE WHEN ${IS_SAME} THEN a.created_at ELSE EXCLUDED.created_at END,
    attempt = CASE WHEN ${IS_SAME} THEN a.attempt + 1 ELSE EXCLUDED.attempt END,
    available_at = EXCLUDED.available_at, deferred = false, token_hash = EXCLUDED.token_hash,
    worker_id = EXCLUDED.worker_id, done = false, done_at = NULL, settled = false, succeeded = NULL,
    result_hash = NULL, result_data = NULL, needs = EXCLUDED.needs
  WHERE NOT (${IS_SAME}) OR (EXCLUDED.token_hash IS NOT NULL AND a.token_hash IS NULL AND NOT a.done AND NOT a.settled)`;

/** The parts of the statement that write the records of `written`; no part for kinds without records. */
export function insertSideParts(
  parameters: Parameters,
  source: string,
  written: readonly WrittenSide[],
): readonly string[] {
  const history = ownedOf(
    written,
    (side) => side.history,
    ({ instanceId, sequence }) => `${instanceId}:${sequence}`,
  );
  const subscriptions = ownedOf(
    written,
    (side) => side.subscriptions,
    ({ id }) => id,
  );
  const activities = ownedOf(
    written,
    (side) => side.activities,
    ({ id }) => id,
  );
  const from = `JOIN ${source} AS written ON written.id = n.written_with`;
  const parts: string[] = [];
  if (history.length > 0) {
    parts.push(`new_history AS (
  INSERT INTO @history (instance_id, sequence, body)
  SELECT n.instance_id, n.sequence, n.body FROM ${parameters.oneOrRows('n', history, HISTORY)} ${from}
  ON CONFLICT (instance_id, sequence) DO UPDATE SET body = EXCLUDED.body
)`);
  }
  if (subscriptions.length > 0) {
    parts.push(`new_subscriptions AS (
  INSERT INTO @subscriptions (id, instance_id, name_key, effective_at)
  SELECT n.id, n.instance_id, n.name_key, n.effective_at
    FROM ${parameters.oneOrRows('n', subscriptions, SUBSCRIPTIONS)} ${from} ORDER BY n.id COLLATE "C"
  ON CONFLICT (id) DO UPDATE SET instance_id = EXCLUDED.instance_id, name_key = EXCLUDED.name_key,
    effective_at = EXCLUDED.effective_at
)`);
  }
  if (activities.length > 0) {
    parts.push(`new_activities AS (
  INSERT INTO @activities AS a (id, instance_id, name, priority, fairness_key, fairness_weight, created_at, available_at,
                                deferred, attempt, token_hash, worker_id, done, settled, needs, parameters)
  SELECT n.id, n.instance_id, n.name, n.priority, n.fairness_key, n.fairness_weight, n.created_at, n.available_at,
         false, n.attempt, n.token_hash, n.worker_id, false, false, n.needs, n.parameters
    FROM ${parameters.oneOrRows('n', activities, ACTIVITIES)} ${from} ORDER BY n.id COLLATE "C" ${PUT_ACTIVITY}
)`);
  }
  const turns = activities.flatMap(turnEntriesOf);
  if (turns.length > 0) {
    parts.push(`new_turns AS (
  INSERT INTO @turns (queue, priority, fairness_key, turn, present, since)
  SELECT n.queue, n.priority, n.fairness_key, ${START}, 0, n.since
    FROM ${parameters.rows('n', turns, TURNS)} ${from}
   WHERE NOT (pg_advisory_xact_lock_shared(n.lock::bigint) IS NULL)
   ORDER BY n.queue COLLATE "C", n.priority, n.fairness_key COLLATE "C"
  ON CONFLICT (queue, priority, fairness_key) DO NOTHING
)`);
  }
  return parts;
}

/** All records of a kind, but only the last one with each key, because one statement can't write a row twice. */
function ownedOf<Item>(
  written: readonly WrittenSide[],
  itemsOf: (side: SideRecords) => readonly Item[],
  keyOf: (item: Item) => string,
): readonly Owned<Item>[] {
  const byKey = new Map<string, Owned<Item>>();
  for (const { id, side } of written) {
    for (const item of itemsOf(side)) byKey.set(keyOf(item), [id, item]);
  }
  return [...byKey.values()];
}

/** The parts of the statement that remove and settle the records that the commits name. `source` also has their `status`. */
export function removeSideParts(
  parameters: Parameters,
  source: string,
  commits: readonly InstanceCommit[],
): readonly string[] {
  const ids = (idsOf: (commit: InstanceCommit) => readonly string[]): Owned<string>[] =>
    commits.flatMap((commit) => idsOf(commit).map((id) => [commit.id, id] as const));
  const named = (items: readonly Owned<string>[]): string =>
    `(SELECT n.id FROM ${parameters.oneOrRows('n', items, IDS)}
        JOIN ${source} AS written ON written.id = n.written_with)`;
  const subscriptions = ids(({ removeSubscriptions }) => removeSubscriptions);
  const activities = commits.flatMap(({ id, lastChangeAt: at, removeActivities }) =>
    removeActivities.map((removed): Owned<Removal> => [id, { id: removed, at }]),
  );
  const settled = ids(({ settleActivities }) => settleActivities);
  const parts: string[] = [];
  if (subscriptions.length > 0) {
    parts.push(
      `old_subscriptions AS (DELETE FROM @subscriptions WHERE id IN ${named(subscriptions)})`,
    );
  }
  if (activities.length > 0) {
    const removed = parameters.oneOrRows('n', activities, REMOVALS);
    parts.push(
      ...removeActivitiesParts(`${removed}
        JOIN ${source} AS written ON written.id = n.written_with`),
    );
  }
  if (settled.length > 0) {
    parts.push(
      `settled AS (UPDATE @activities SET settled = true WHERE id IN ${named(settled)} AND done)`,
    );
  }
  if (commits.some(({ status }) => status === 'Complete' || status === 'Terminated')) {
    parts.push(settleAllPart(`${source} WHERE status IN ('Complete', 'Terminated')`));
  }
  return parts;
}

/**
 * Of a withdrawn item, a mark is left for the holder of its token. Both writes decide on the items as they are once they are
 * locked: one that is being withdrawn at the same time must not escape both.
 */
function removeActivitiesParts(removed: string): readonly string[] {
  return [
    `old_activities AS MATERIALIZED (
  SELECT a.id, n.at, a.settled AND a.token_hash IS NOT NULL AS is_left
    FROM @activities AS a JOIN ${removed} ON a.id = n.id
   WHERE NOT a.done ORDER BY a.id FOR UPDATE OF a
)`,
    'removed_activities AS (DELETE FROM @activities WHERE id IN (SELECT id FROM old_activities WHERE NOT is_left))',
    `left_activities AS (
  UPDATE @activities AS a SET done = true, done_at = old.at FROM old_activities AS old WHERE a.id = old.id AND old.is_left
)`,
  ];
}

/** No instance will apply results once it has ended. */
export function settleAllPart(source: string): string {
  return `settled_all AS (
  UPDATE @activities SET settled = true
   WHERE instance_id IN (SELECT id FROM ${source}) AND done AND NOT settled
)`;
}
