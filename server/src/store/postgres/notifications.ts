/** Deliveries: inserts and claims. They differ from SQLite, because several nodes write at the same time. */
import type { OperationArguments } from '../store-operations.js';
import type { DeliveryRecord } from '../records/notifications.js';
import { columnsWithin, type Columns } from '../sql/columns.js';
import { DELIVERY_COLUMNS, deliveryOf } from '../sql/notifications.js';
import { encodeTextWithoutNul } from '../text-codec.js';
import { columnName } from './notation.js';
import { columnNames, inLockOrder, Parameters } from './parameters.js';
import type { PostgresContext } from './postgres-context.js';

const IS_KNOWN =
  'EXISTS (SELECT FROM @notifications WHERE name = delivery.notification COLLATE "C")';
const ONCE = 'ON CONFLICT (id) DO NOTHING';

export async function insertDeliveries(
  { database }: PostgresContext,
  [deliveries]: OperationArguments<'insertDeliveries'>,
): Promise<void> {
  const parameters = new Parameters();
  const names = columnNames(DELIVERY_COLUMNS);
  const rows = parameters.rows('delivery', inLockOrder(deliveries), DELIVERY_COLUMNS);
  await database.execute(
    `INSERT INTO @deliveries (${names}) SELECT ${names} FROM ${rows} WHERE ${IS_KNOWN} ${ONCE}`,
    parameters.values,
  );
}

/** The instance with which deliveries are stored, and these. */
interface WithDeliveries {
  readonly id: string;
  readonly deliveries?: readonly DeliveryRecord[];
}

type OwnedDelivery = readonly [writtenWith: string, delivery: DeliveryRecord];

const OWNED_COLUMNS: Columns<OwnedDelivery> = {
  written_with: ['text', ([id]) => id],
  ...columnsWithin(DELIVERY_COLUMNS, ([, delivery]: OwnedDelivery) => delivery),
};

/** The part of a statement that stores the deliveries of the instances that it has written: `source` has their ids. */
export function insertDeliveriesParts(
  parameters: Parameters,
  source: string,
  written: readonly WithDeliveries[],
): readonly string[] {
  const owned = written.flatMap(({ deliveries = [], id }) =>
    deliveries.map((delivery): OwnedDelivery => [id, delivery]),
  );
  if (owned.length === 0) return [];
  const names = Object.keys(DELIVERY_COLUMNS).map(columnName);
  const values = names.map((name) => `delivery.${name}`);
  const rows = parameters.oneOrRows('delivery', owned, OWNED_COLUMNS);
  return [
    `new_deliveries AS (
  INSERT INTO @deliveries (${names.join(', ')})
  SELECT ${values.join(', ')} FROM ${rows} JOIN ${source} AS written ON written.id = delivery.written_with
   WHERE ${IS_KNOWN} ORDER BY delivery.id COLLATE "C" ${ONCE}
)`,
  ];
}

/** The approximate number of characters that deliveries add to a statement. */
export function lengthOfDeliveries(deliveries: readonly DeliveryRecord[] = []): number {
  return deliveries.reduce((sum, { body }) => sum + body.length, 0);
}

export async function claimDeliveries(
  { database }: PostgresContext,
  [{ limit, notification, now, until }]: OperationArguments<'claimDeliveries'>,
): Promise<readonly DeliveryRecord[]> {
  const rows = await database.query(
    `UPDATE @deliveries SET attempts = attempts + 1, due_at = $3::bigint WHERE id = ANY (ARRAY(
       SELECT id FROM @deliveries WHERE notification = $1 AND state = 'waiting' AND due_at <= $2::bigint
        ORDER BY due_at, id LIMIT $4::bigint FOR UPDATE SKIP LOCKED)) RETURNING *`,
    [encodeTextWithoutNul(notification), now, until, limit],
  );
  return rows.map(deliveryOf);
}
