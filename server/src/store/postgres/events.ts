/** Event deliveries: what PostgreSQL does in one statement, and SQLite in several. */
import type { OperationArguments, OperationResult } from '../store-operations.js';
import type { EventDelivery } from '../records/events.js';
import type { Columns } from '../sql/columns.js';
import { inLockOrder, Parameters, withParts } from './parameters.js';
import type { PostgresContext } from './postgres-context.js';

const DELIVERIES: Columns<EventDelivery> = {
  id: ['text', ({ id }) => id],
  delivered_to: ['number', ({ deliveredTo }) => deliveredTo],
  is_confirmed: ['boolean', ({ isConfirmed }) => isConfirmed],
};
const TAKERS: Columns<readonly [eventId: string, instanceId: string, position: number]> = {
  event_id: ['text', ([eventId]) => eventId],
  instance_id: ['text', ([, instanceId]) => instanceId],
  position: ['number', ([, , position]) => position],
};

/** The statement sees every subscription whose instance may not have seen the event: it begins after the event is stored. */
export async function markEventsDelivered(
  { database }: PostgresContext,
  [deliveries]: OperationArguments<'markEventsDelivered'>,
): Promise<OperationResult<'markEventsDelivered'>> {
  const parameters = new Parameters();
  const given = parameters.oneOrRows('g', inLockOrder(deliveries), DELIVERIES);
  const takers = deliveries.flatMap(({ id, takenBy }) =>
    takenBy.map((instanceId, position) => [id, instanceId, position] as const),
  );
  const text = withParts(
    [
      `taken AS (
  SELECT event_id, array_agg(instance_id ORDER BY position) AS ids
    FROM ${parameters.oneOrRows('t', takers, TAKERS)} GROUP BY event_id
)`,
      `wanted AS (
  SELECT g.id, g.delivered_to, coalesce(t.ids, '{}') AS taken_by, NOT g.is_confirmed AND EXISTS (
      SELECT FROM @subscriptions AS s
       WHERE s.name_key = e.name_key AND s.effective_at <= e.published_at
         AND s.instance_id <> ALL(coalesce(t.ids, '{}'))
    ) AS has_missed_some
    FROM ${given} JOIN @events AS e ON e.id = g.id LEFT JOIN taken AS t ON t.event_id = g.id
   WHERE e.delivered_to IS NULL OR e.delivered_to < g.delivered_to
)`,
      `marked AS (
  UPDATE @events AS e SET delivered_to = w.delivered_to, taken_by = w.taken_by
    FROM wanted AS w
   WHERE e.id = w.id AND NOT w.has_missed_some AND (e.delivered_to IS NULL OR e.delivered_to < w.delivered_to)
)`,
    ],
    'SELECT id FROM wanted WHERE has_missed_some',
  );
  const missing = await database.query(text, parameters.values);
  return missing.map((row) => row.text('id'));
}
