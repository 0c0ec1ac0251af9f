/** Events: operations that take several statements here, and one on PostgreSQL. */
import type { OperationArguments, OperationResult } from '../../store-operations.js';
import {
  EVENT_TAKERS_MAX,
  type EventDelivery,
  type EventRecord,
  type SubscriptionRecord,
} from '../../records/events.js';
import type { InboxMessage } from '../../records/messages.js';
import {
  CLAIMED_BY_EVENT_MAX,
  type MessageClaimer,
  type PostedMessage,
  type InsertEventResult,
} from '../../records/posted-messages.js';
import type { Columns } from '../../sql/columns.js';
import { EVENT_COLUMNS, EVENT_OPERATIONS, subscriptionOf } from '../../sql/events.js';
import { encodeText } from '../../text-codec.js';
import type { Database } from '../database.js';
import { insert } from '../../sql/statements.js';
import { runSteps } from '../shared-operations.js';
import { postMessage } from './messages.js';

/** Maximum number of subscriptions that are served together with the insert of their event. */
const SUBSCRIPTIONS_MAX = 500;

interface StoredEvent extends EventRecord {
  readonly takenBy: readonly string[] | null;
}

export const STORED_EVENT_COLUMNS: Columns<StoredEvent> = {
  ...EVENT_COLUMNS,
  takenBy: ['text', ({ takenBy }) => (takenBy === null ? null : JSON.stringify(takenBy))],
};

/**
 * An instance that subscribes later finds the event, because transactions run one after another. So an event that was
 * posted to all subscriptions is delivered.
 */
export function insertEvent(
  database: Database,
  [event, message, claimer]: OperationArguments<'insertEvent'>,
): InsertEventResult {
  const known = runSteps(database, EVENT_OPERATIONS.getEvent([event.id]));
  if (known !== null) return { outcome: 'exists', event: known };
  const delivery = message === undefined ? null : deliver(database, event, message, claimer);
  const isDelivered = delivery?.isToAll === true;
  const posted = delivery?.posted ?? [];
  const takers = posted.slice(0, EVENT_TAKERS_MAX).map(({ instanceId }) => instanceId);
  runSteps(
    database,
    insert('events', STORED_EVENT_COLUMNS, {
      ...event,
      deliveredTo: isDelivered ? posted.length : event.deliveredTo,
      takenBy: isDelivered ? takers : null,
    }),
  );
  return { outcome: 'inserted', posted, delivery: isDelivered ? 'complete' : 'partial' };
}

function deliver(
  database: Database,
  { nameKey, publishedAt }: EventRecord,
  message: InboxMessage,
  claimer: MessageClaimer | undefined,
): { readonly posted: readonly PostedMessage[]; readonly isToAll: boolean } {
  const found = database.all(
    'SELECT id, instanceId, nameKey, effectiveAt FROM subscriptions WHERE nameKey = ? AND effectiveAt <= ? ORDER BY id LIMIT ?',
    encodeText(nameKey),
    publishedAt,
    SUBSCRIPTIONS_MAX,
  );
  const posted = [...new Set(found.map((row) => row.text('instanceId')))]
    .map((instanceId, index) =>
      postMessage(
        database,
        { instanceId, message },
        index < CLAIMED_BY_EVENT_MAX ? claimer : undefined,
      ),
    )
    .filter((answer) => answer !== null);
  const isToAll = found.length < SUBSCRIPTIONS_MAX;
  const subscriptions = found.map(subscriptionOf);
  // The event isn't stored yet.
  const isOnly = ({ claimed, instanceId }: PostedMessage): boolean =>
    claimed !== undefined &&
    isToAll &&
    hasNoEvents(
      database,
      subscriptions.filter((each) => each.instanceId === instanceId),
    );
  return {
    posted: posted.map((answer) => (isOnly(answer) ? { ...answer, onlyEventOf: nameKey } : answer)),
    isToAll,
  };
}

/** Whether no stored event is for one of the subscriptions, which the same transaction inserts. */
export function hasNoEvents(
  database: Database,
  subscriptions: readonly SubscriptionRecord[],
): boolean {
  return subscriptions.every(
    ({ effectiveAt, nameKey }) =>
      database.get(
        'SELECT 1 AS found FROM events WHERE nameKey = ? AND publishedAt >= ? LIMIT 1',
        encodeText(nameKey),
        effectiveAt,
      ) === null,
  );
}

export function markEventsDelivered(
  database: Database,
  [deliveries]: OperationArguments<'markEventsDelivered'>,
): OperationResult<'markEventsDelivered'> {
  const missing = deliveries.filter((delivery) => hasMissedSome(database, delivery));
  for (const delivery of deliveries) {
    if (missing.includes(delivery)) continue;
    const { deliveredTo, id, takenBy } = delivery;
    database.run(
      'UPDATE events SET deliveredTo = ?, takenBy = ? WHERE id = ? AND (deliveredTo IS NULL OR deliveredTo < ?)',
      deliveredTo,
      JSON.stringify(takenBy),
      encodeText(id),
      deliveredTo,
    );
  }
  return missing.map(({ id }) => id);
}

/** Whether an instance that subscribed at the moment of the insert hasn't received the event. */
function hasMissedSome(
  database: Database,
  { deliveredTo, id, isConfirmed, takenBy }: EventDelivery,
): boolean {
  if (isConfirmed) return false;
  const missed = database.get(
    `SELECT 1 AS missed FROM events AS e JOIN subscriptions AS s ON s.nameKey = e.nameKey AND s.effectiveAt <= e.publishedAt
      WHERE e.id = ? AND (e.deliveredTo IS NULL OR e.deliveredTo < ?)
        AND s.instanceId NOT IN (${takenBy.map(() => '?').join(', ')}) LIMIT 1`,
    encodeText(id),
    deliveredTo,
    ...takenBy.map(encodeText),
  );
  return missed !== null;
}
