/**
 * Publications: one statement inserts the events that arrive at the same moment, and posts them to the instances that have
 * subscribed to them.
 *
 * The statement does not see a subscription that is committed while it runs, and the instance may not see the event yet. So
 * the caller searches the subscriptions again.
 */
import { GroupCommit } from '../group-commit.js';
import type { OperationArguments } from '../operations.js';
import type { InsertEventResult } from '../records/events.js';
import { messageBytes, type PostedMessage } from '../records/messages.js';
import { StoreUnavailableError } from '../store.js';
import { encodeTextWithoutNul } from '../text-codec.js';
import type { Database } from './database.js';
import { getEvent } from './events.js';
import { wakesOf } from './instance-rows.js';
import { postedOf, postedPart } from './messages.js';
import { type Columns, Parameters, withParts } from './parameters.js';
import type { EventInsert, Groups, PostgresContext } from './postgres-context.js';

/** How often an event with the same id may be removed between the insert and the read. */
const ATTEMPTS_MAX = 3;
/** Subscriptions that are served in the same statement: few, so that its plan suits any number of subscriptions. */
const SUBSCRIPTIONS_MAX = 8;
const EVENTS_PER_STATEMENT = 50;

const COLUMNS: Columns<EventInsert> = {
  id: ['text', ([{ id }]) => encodeTextWithoutNul(id)],
  name_key: ['text', ([{ nameKey }]) => encodeTextWithoutNul(nameKey)],
  name: ['text', ([{ name }]) => encodeTextWithoutNul(name)],
  key: ['text', ([{ key }]) => encodeTextWithoutNul(key)],
  published_at: ['bigint', ([{ publishedAt }]) => publishedAt],
  delivered_to: ['bigint', ([{ deliveredTo }]) => deliveredTo],
  request_hash: [
    'text',
    ([{ requestHash }]) => (requestHash === null ? null : encodeTextWithoutNul(requestHash)),
  ],
  data: ['text', ([{ data }]) => encodeTextWithoutNul(data)],
  message_id: ['text', ([, message]) => (message ? encodeTextWithoutNul(message.id) : null)],
  body: ['text', ([, message]) => (message ? encodeTextWithoutNul(message.body) : null)],
  bytes: ['bigint', ([, message]) => (message ? messageBytes(message) : null)],
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
    const posted = await context.groups.events.submit(insert);
    if (posted !== null) return { outcome: 'inserted', posted, isDelivered: false };
    const event = await getEvent(context, [id]);
    if (event !== null) return { outcome: 'exists', event };
  }
  throw new StoreUnavailableError(`The event ${id} was removed while it was inserted`);
}

/** For each event the instances to which it was posted, or null if it exists. */
async function insertAll(
  database: Database,
  inserts: readonly EventInsert[],
): Promise<readonly (readonly PostedMessage[] | null)[]> {
  const parameters = new Parameters();
  const sorted = inserts.toSorted(([a], [b]) => (a.id < b.id ? -1 : 1));
  const given = parameters.rows('g', sorted, COLUMNS);
  const text = withParts(
    [
      `given AS (SELECT * FROM ${given})`,
      `added AS (
  INSERT INTO @events (id, name_key, name, key, published_at, delivered_to, request_hash, data)
  SELECT id, name_key, name, key, published_at, delivered_to, request_hash, data FROM given
  ON CONFLICT (id) DO NOTHING RETURNING id
)`,
      `told AS (
  SELECT DISTINCT s.instance_id, g.message_id, g.body, g.bytes, g.id COLLATE "C" AS position
    FROM added AS a JOIN given AS g ON g.id = a.id CROSS JOIN LATERAL (
      SELECT instance_id FROM @subscriptions
       WHERE name_key = g.name_key AND effective_at <= g.published_at ORDER BY id LIMIT ${SUBSCRIPTIONS_MAX}
    ) AS s
   WHERE g.message_id IS NOT NULL
)`,
      postedPart('told', false),
      wakesOf('posted'),
    ],
    `SELECT id AS event_id, NULL AS id, NULL::bigint AS in_seq, NULL::bigint AS epoch, NULL AS owner, NULL::text[] AS ids FROM added
      UNION ALL SELECT NULL, id, in_seq, epoch, owner, ids FROM posted`,
  );
  const rows = await database.queryGroup(text, parameters.values);
  const added = new Set(rows.map((row) => row.textOrNull('event_id')));
  const posted = rows.filter((row) => row.textOrNull('event_id') === null);
  return inserts.map(([{ id }, message]) => {
    if (!added.has(id)) return null;
    if (message === undefined) return [];
    return posted.flatMap((row) => {
      const ids = row.texts('ids');
      const index = ids.indexOf(message.id);
      if (index === -1) return [];
      // The counter of the inbox right after this message.
      const answer = postedOf(row);
      return [{ ...answer, inSeq: answer.inSeq - (ids.length - 1 - index) }];
    });
  });
}
