/**
 * Events: one statement inserts the events that arrive at the same moment, and posts them to the instances that have
 * subscribed to them. SQLite takes several statements for this, and for marking deliveries.
 *
 * The statement doesn't see a subscription that is committed while it runs, and the instance may not see the event yet. So
 * the delivery is unconfirmed until `markEventsDelivered` has searched the subscriptions again.
 */
import { GroupCommit } from '../group-commit.js';
import type { EventDelivery } from '../records/events.js';
import { messageBytes, type InboxMessage } from '../records/messages.js';
import type { InsertEventResult, PostedMessage } from '../records/posted-messages.js';
import { type Columns, columnsWithin } from '../sql/columns.js';
import { EVENT_COLUMNS, EVENT_OPERATIONS } from '../sql/events.js';
import type { OperationArguments, OperationResult } from '../store-operations.js';
import { StoreUnavailableError } from '../store.js';
import type { Database } from './database.js';
import { wakesOf } from './instance-rows.js';
import { claimCell, claimedColumns } from './message-claims.js';
import { claimedOf, postedOf, postedPart } from './messages.js';
import { inLockOrder, Parameters, withParts } from './parameters.js';
import type { PostgresContext, DeliveredEvent, EventInsert, Groups } from './postgres-context.js';
import type { Row } from './row.js';
import { runSteps } from './shared-operations.js';

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

/** How often an event with the same id may be removed between the insert and the read. */
const ATTEMPTS_MAX = 3;
/** Subscriptions that are served in the same statement: few, so that its plan suits any number of subscriptions. */
const SUBSCRIPTIONS_MAX = 8;
const EVENTS_PER_STATEMENT = 50;

const PUBLISHED: Columns<EventInsert> = {
  ...columnsWithin(EVENT_COLUMNS, ([event]: EventInsert) => event),
  message_id: ['text', ([, message]) => (message ? message.id : null)],
  body: ['text', ([, message]) => (message ? message.body : null)],
  bytes: ['number', ([, message]) => (message ? messageBytes(message) : null)],
};
const PUBLISHED_WITH_CLAIM: Columns<EventInsert> = {
  ...PUBLISHED,
  claim: ['text', ([, , claimer]) => claimCell(claimer)],
};

export function createEventGroup(database: Database): Groups['events'] {
  return new GroupCommit({
    keyOf: ([{ id }]) => id,
    sizeOf: ([{ data, key, name }, message]) =>
      data.length + key.length + name.length + (message?.body.length ?? 0),
    countMax: EVENTS_PER_STATEMENT,
    repeatLimits: database.repeatLimits,
    send: (inserts) => insertAll(database, inserts),
  });
}

export async function insertEvent(
  context: PostgresContext,
  insert: OperationArguments<'insertEvent'>,
): Promise<InsertEventResult> {
  const [{ id }] = insert;
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const delivered = await context.groups.events.submit(insert);
    if (delivered !== null) return { outcome: 'inserted', ...delivered };
    const event = await runSteps(context.database, EVENT_OPERATIONS.getEvent([id]));
    if (event !== null) return { outcome: 'exists', event };
  }
  throw new StoreUnavailableError(`The event ${id} was removed while it was inserted`);
}

/**
 * Whether no other event is for the waits of the claimed instance `p` for this name and key. An event that the statement doesn't
 * see was stored after the subscription, so it comes as a message. The instance may have changed since the statement began to
 * read, and then has other waits: the revision tells.
 */
const IS_ONLY_EVENT = `CASE WHEN p.claimed THEN p.revision = (SELECT o.revision FROM @instances AS o WHERE o.id = p.id)
    AND NOT EXISTS (
      SELECT FROM told AS t JOIN @events AS e ON e.name_key = t.name_key AND e.published_at >= t.since
       WHERE t.instance_id = p.id
    ) ELSE false END`;

/** For each event how it was delivered, or null if it exists. */
async function insertAll(
  database: Database,
  inserts: readonly EventInsert[],
): Promise<readonly (DeliveredEvent | null)[]> {
  const parameters = new Parameters();
  const sorted = inserts.toSorted(([a], [b]) => (a.id < b.id ? -1 : 1));
  const claims = inserts.some(([, , claimer]) => claimer !== undefined);
  const given = parameters.oneOrRows('g', sorted, claims ? PUBLISHED_WITH_CLAIM : PUBLISHED);
  const text = withParts(
    [
      `given AS (SELECT * FROM ${given})`,
      `added AS (
  INSERT INTO @events (id, name_key, name, key, published_at, delivered_to, request_hash, data)
  SELECT id, name_key, name, key, published_at, delivered_to, request_hash, data FROM given
  ON CONFLICT (id) DO NOTHING RETURNING id
)`,
      `told AS (
  SELECT s.instance_id, s.subscriptions, g.id AS event_id, g.message_id, g.body, g.bytes, g.id COLLATE "C" AS position
         ${claims ? ', g.claim, g.name_key, s.since' : ''}
    FROM added AS a JOIN given AS g ON g.id = a.id CROSS JOIN LATERAL (
      SELECT instance_id, count(*) AS subscriptions, min(effective_at) AS since FROM (
        SELECT instance_id, effective_at FROM @subscriptions
         WHERE name_key = g.name_key AND effective_at <= g.published_at ORDER BY id LIMIT ${SUBSCRIPTIONS_MAX}
      ) AS oldest GROUP BY instance_id
    ) AS s
   WHERE g.message_id IS NOT NULL
)`,
      postedPart('told', { isNoted: false, claims }),
      wakesOf('posted'),
    ],
    // The rows of both, side by side.
    `SELECT event_id, instances, subscriptions, id, in_seq, epoch, owner, rested, ids
            ${claims ? `, ${IS_ONLY_EVENT} AS is_only, ${claimedColumns('p', 'p.claimed')}` : ''}
       FROM (
         SELECT a.id AS event_id, count(t.instance_id) AS instances, coalesce(sum(t.subscriptions), 0)::bigint AS subscriptions
           FROM added AS a LEFT JOIN told AS t ON t.event_id = a.id GROUP BY a.id
       ) AS s FULL JOIN posted AS p ON false`,
  );
  const rows = await database.queryGroup(text, parameters.values);
  const added = new Map(rows.map((row) => [row.textOrNull('event_id'), row]));
  const changed = rows.filter((row) => row.textOrNull('event_id') === null);
  return inserts.map(([{ id, nameKey }, message]) => {
    const row = added.get(id);
    if (row === undefined) return null;
    if (message === undefined) return { posted: [], delivery: 'partial' };
    const seesAll = row.number('subscriptions') < SUBSCRIPTIONS_MAX;
    const onlyEventOf = seesAll ? nameKey : null;
    const posted = postedWith(message, changed, { claims, onlyEventOf });
    // An instance that was found but not changed may have a full inbox.
    const isToAll = seesAll && posted.length === row.number('instances');
    return { posted, delivery: isToAll ? 'unconfirmed' : 'partial' };
  });
}

/** The instances that have received the message, each with the counter of its inbox right after it. */
function postedWith(
  message: InboxMessage,
  changed: readonly Row[],
  { claims, onlyEventOf }: { readonly claims: boolean; readonly onlyEventOf: string | null },
): readonly PostedMessage[] {
  return changed.flatMap((row) => {
    const ids = row.texts('ids');
    const index = ids.indexOf(message.id);
    if (index === -1) return [];
    // The first message has claimed the instance.
    const isClaimed = claims && index === 0;
    const answer = isClaimed ? claimedOf(row) : postedOf(row);
    const isOnly = isClaimed && onlyEventOf !== null && row.boolean('is_only');
    return [
      { ...answer, ...(isOnly && { onlyEventOf }), inSeq: answer.inSeq - (ids.length - 1 - index) },
    ];
  });
}
