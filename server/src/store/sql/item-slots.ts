/** Items of activities that need slots, as rows: they take them when they are claimed. See slot-rows.ts. */
import type { ActivityRecord } from '../records/activities.js';
import type { LimitKey } from '../records/slots.js';
import { FAR_FUTURE_MS } from '../store.js';
import type { Asking } from './slot-columns.js';
import {
  judge,
  putWait,
  removeWait,
  rulesOf,
  takeSlots,
  type Answer,
  type Rules,
} from './slot-rows.js';
import { select, write, type SqlSteps } from './statements.js';

type Item = Pick<
  ActivityRecord,
  'id' | 'instanceId' | 'name' | 'needs' | 'priority' | 'fairness' | 'createdAt'
>;

export function askingOf(item: Item): Asking | null {
  const { createdAt: since, fairness = null, id: execution, instanceId, priority } = item;
  const [first, ...others] = item.needs ?? [];
  if (first === undefined) return null;
  return { execution, instanceId, priority, fairness, since, needs: [first, ...others] };
}

/** An item that needs slots is in its queue while they are free, and waits while they aren't. Returns the key for which it waits. */
export function* offerItem(rules: Rules, item: Item): SqlSteps<readonly LimitKey[]> {
  const asking = askingOf(item);
  if (asking === null) return [];
  const answer = yield* judge(rules, asking, { now: item.createdAt });
  if (!answer.isFree) return [yield* limitItem(item, answer.on)];
  yield* putWait(asking, { on: asking.needs[0], state: 'offered' }, item.name);
  return [];
}

/**
 * Takes the slots of an item that is being claimed. If it can't have them, no claim finds it until its turn comes, and the key for
 * which it waits is returned.
 */
export function* claimSlots(item: Item, now: number): SqlSteps<LimitKey | null> {
  const asking = askingOf(item);
  if (asking === null) return null;
  const rules = yield* rulesOf(asking.needs.map(({ limit }) => limit));
  const answer = yield* takeSlots(rules, asking, { now, isActivity: true });
  if (!answer.isFree) return yield* limitItem(item, answer.on);
  yield* removeWait(item.id);
  return null;
}

/** No claim finds the item until its turn comes. */
function* limitItem(item: Item, on: LimitKey): SqlSteps<LimitKey> {
  const asking = askingOf(item);
  if (asking === null) return on;
  yield* write(
    'UPDATE @activities SET availableAt = ?, deferred = TRUE, tokenHash = NULL, workerId = NULL WHERE id = ?',
    FAR_FUTURE_MS,
    item.id,
  );
  yield* putWait(asking, { on, state: 'waiting' }, item.name);
  return on;
}

const SAME_MAX = 200;

/** Of the items of its fairness key that need the same as one that waits, and come after it, many wait at once: they can't have their slots either. */
export function* limitSame(item: Item, on: LimitKey, now: number): SqlSteps<void> {
  const text = `SELECT id, createdAt, fairnessWeight, instanceId FROM @activities AS item INDEXED BY activities_queue
    WHERE name = ? AND priority = ? AND fairnessKey = ? AND done = FALSE AND settled = FALSE AND availableAt <= ? AND needs = ?
      AND EXISTS (SELECT 1 FROM @instances AS owner WHERE owner.id = item.instanceId AND owner.status = 'Runnable')
    ORDER BY availableAt, id LIMIT ?`;
  const needs = JSON.stringify(item.needs);
  const { fairness, name, priority } = item;
  const rows = yield* select(text, name, priority, fairness?.key ?? '', now, needs, SAME_MAX);
  for (const row of rows) {
    const same = { ...item, id: row.text('id'), createdAt: row.number('createdAt') };
    const own = fairness && { fairness: { ...fairness, weight: row.number('fairnessWeight') } };
    yield* limitItem({ ...same, ...own, instanceId: row.text('instanceId') }, on);
  }
}

/** An item that a worker gets with the commit. */
export function* takeItem(rules: Rules, item: Item, isNew: boolean): SqlSteps<Answer> {
  const asking = askingOf(item);
  if (asking === null) throw new TypeError(`The item ${item.id} needs no slots`);
  const answer = yield* takeSlots(rules, asking, { now: item.createdAt, isActivity: true });
  if (answer.isFree && !isNew) yield* removeWait(item.id);
  return answer;
}
