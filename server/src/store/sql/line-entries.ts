/** What enters other lines, because its priority has changed. */
import type { InstanceRecord } from '../records/instances.js';
import type { Fairness, Priority } from '../../engine/model/start-options.js';
import { itemsQueueOf } from '../records/turns.js';
import { slotsKeyOf } from '../records/slots.js';
import { compareText } from '../text-order.js';
import { enterLine } from './places.js';
import { select, type SqlSteps } from './statements.js';
import type { StoredRow } from './stored-row.js';
import { putTurn } from './turns.js';

const ITEMS = `SELECT name, createdAt AS since FROM @activities WHERE instanceId = ? AND done = FALSE AND settled = FALSE`;
const WAITS = `SELECT limitName, limitKey, since FROM @slot_waits WHERE instanceId = ? AND state = 'waiting'`;

/** All that waits of an instance that has a fairness key. */
export function* enterLines(
  { concurrencyKey: key, definitionId, fairness, id }: InstanceRecord,
  priority: Priority,
): SqlSteps<void> {
  if (fairness === null) return;
  const items = yield* select(ITEMS, id);
  yield* enterAll(items, priority, { fairness, queueOf: (row) => itemsQueueOf(row.text('name')) });
  const waits = yield* select(WAITS, id);
  const queueOf = (row: StoredRow) =>
    slotsKeyOf({ limit: row.text('limitName'), key: row.text('limitKey') });
  yield* enterAll(waits, priority, { fairness, queueOf });
  if (key !== null) yield* enterLine(id, { definitionId, key });
}

/** Each queue once, since the first that waits there. */
function* enterAll(
  rows: readonly StoredRow[],
  priority: Priority,
  of: { readonly fairness: Fairness; readonly queueOf: (row: StoredRow) => string },
): SqlSteps<void> {
  const first = new Map<string, number>();
  for (const row of rows) {
    const queue = of.queueOf(row);
    first.set(queue, Math.min(first.get(queue) ?? Infinity, row.number('since')));
  }
  for (const [queue, since] of [...first].sort(([left], [right]) => compareText(left, right))) {
    yield* putTurn({ queue, priority }, { fairness: of.fairness, since });
  }
}
