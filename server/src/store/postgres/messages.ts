/**
 * Messages to instances: one update appends, counts and wakes (rule S3), for all messages that arrive at the same
 * moment.
 */
import { GroupCommit } from '../group-commit.js';
import type { OperationArguments, OperationResult } from '../operations.js';
import type { PostedMessage } from '../records/messages.js';
import { StoreUnavailableError } from '../store.js';
import { encodeTextWithoutNul } from '../text-codec.js';
import { appendedAudit, auditBodyOf } from './audit.js';
import type { Database } from './database.js';
import { wakesOf } from './instance-rows.js';
import { type Columns, Parameters, withParts } from './parameters.js';
import type { Groups, Message, PostgresContext } from './postgres-context.js';
import type { Row } from './row.js';

/** How often other writers may change an instance between our update and our check why it had no effect. */
const ATTEMPTS_MAX = 10;
/** Maximum number of calls that share a statement; each may have many messages. */
const CALLS_PER_STATEMENT = 50;

const COLUMNS: Columns<Message> = {
  instance_id: ['text', ({ instanceId }) => encodeTextWithoutNul(instanceId)],
  message_id: ['text', ({ message }) => encodeTextWithoutNul(message.id)],
  body: ['text', ({ message }) => encodeTextWithoutNul(message.body)],
};
const COLUMNS_WITH_AUDIT: Columns<Message> = {
  ...COLUMNS,
  audit: ['text', ({ audit }) => (audit === undefined ? null : auditBodyOf(audit))],
};

export function createMessageGroup(database: Database): Groups['messages'] {
  return new GroupCommit<readonly Message[], readonly (PostedMessage | null)[]>({
    sizeOf: (messages) => messages.reduce((sum, { message }) => sum + message.body.length, 0),
    countMax: CALLS_PER_STATEMENT,
    send: async (calls) => {
      const messages = calls.flat();
      const posted = answersOf(messages, await postAll(database, messages));
      return calls.map((call) => posted.splice(0, call.length));
    },
  });
}

export async function postMessages(
  { groups }: PostgresContext,
  [messages]: OperationArguments<'postMessages'>,
): Promise<OperationResult<'postMessages'>> {
  return messages.length === 0 ? [] : groups.messages.submit(messages);
}

/** The result of posting the messages of one instance. */
interface Delivery extends PostedMessage {
  /** Ids of the messages that were added; the others already existed. */
  readonly added: ReadonlySet<string>;
}

/**
 * One statement, and more only for instances that did not accept their messages, because they already have some of them
 * or have ended. Returns the results by instance; instances that accept no messages are missing.
 */
async function postAll(
  database: Database,
  messages: readonly Message[],
): Promise<ReadonlyMap<string, Delivery>> {
  const posted = new Map<string, Delivery>();
  let left: readonly Message[] = withoutRepeated(messages);
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    for (const each of await append(database, left)) {
      const mine = left.filter(({ instanceId }) => instanceId === each.instanceId);
      posted.set(each.instanceId, {
        ...each,
        added: new Set(mine.map(({ message }) => message.id)),
      });
    }
    left = left.filter(({ instanceId }) => !posted.has(instanceId));
    if (left.length === 0) return posted;
    left = await findMissing(database, left, posted);
    if (left.length === 0) return posted;
  }
  throw new StoreUnavailableError('An instance has too many concurrent writers');
}

/** Adds to each instance all of its messages, unless it already has one of them. */
async function append(
  database: Database,
  messages: readonly Message[],
): Promise<readonly PostedMessage[]> {
  const isNoted = messages.some(({ audit }) => audit !== undefined);
  const parameters = new Parameters();
  const rows = parameters.rows('m', messages, isNoted ? COLUMNS_WITH_AUDIT : COLUMNS);
  const source = rows.replace(' AS m (', ' WITH ORDINALITY AS m (').replace(/\)$/, ', position)');
  const text = withParts(
    [
      `posted AS (
  UPDATE @instances AS i SET
    inbox_ids = i.inbox_ids || w.ids, inbox_bodies = i.inbox_bodies || w.bodies,
    in_seq = i.in_seq + cardinality(w.ids), wake_at = 0
    ${isNoted ? `, audit = ${appendedAudit('i.audit', 'w.audit')}` : ''}
  FROM (
    SELECT instance_id, array_agg(message_id ORDER BY position) AS ids, array_agg(body ORDER BY position) AS bodies
           ${isNoted ? ', array_agg(audit ORDER BY position) FILTER (WHERE audit IS NOT NULL) AS audit' : ''}
      FROM ${source} GROUP BY instance_id ORDER BY instance_id
  ) AS w
  WHERE i.id = w.instance_id AND i.status IN ('Runnable', 'Suspended') AND NOT i.inbox_ids && w.ids
  RETURNING i.id, i.in_seq, i.epoch, i.owner, i.wake_at, i.under_way
)`,
      wakesOf('posted'),
    ],
    'SELECT id, in_seq, epoch, owner FROM posted',
  );
  return (await database.query(text, parameters.values)).map(postedOf);
}

/** The messages that their instances do not have yet. Instances that have all of them are added to `posted`. */
async function findMissing(
  database: Database,
  messages: readonly Message[],
  posted: Map<string, Delivery>,
): Promise<readonly Message[]> {
  const ids = [...new Set(messages.map(({ instanceId }) => instanceId))];
  const live = await database.query(
    `SELECT id, in_seq, epoch, owner, inbox_ids FROM @instances
      WHERE id = ANY($1::text[]) AND status IN ('Runnable', 'Suspended')`,
    [ids.map(encodeTextWithoutNul)],
  );
  return live.flatMap((row) => {
    const id = row.text('id');
    const known = new Set(row.texts('inbox_ids'));
    const missing = messages.filter(
      ({ instanceId, message }) => instanceId === id && !known.has(message.id),
    );
    if (missing.length === 0) posted.set(id, { ...postedOf(row), added: new Set() });
    return missing;
  });
}

/** The first message with each id, for each instance. */
function withoutRepeated(messages: readonly Message[]): readonly Message[] {
  if (messages.length === 1) return messages;
  const known = new Map<string, Set<string>>();
  return messages.filter(({ instanceId, message }) => {
    const ids = known.get(instanceId) ?? new Set();
    if (ids.has(message.id)) return false;
    known.set(instanceId, ids.add(message.id));
    return true;
  });
}

/** In the order of the messages, each with the values of the instance right after it was added. */
function answersOf(
  messages: readonly Message[],
  deliveries: ReadonlyMap<string, Delivery>,
): (PostedMessage | null)[] {
  const counted = new Map<string, Set<string>>();
  return messages.map(({ instanceId, message }) => {
    const delivery = deliveries.get(instanceId);
    if (delivery === undefined) return null;
    const { added, inSeq, epoch, owner } = delivery;
    const soFar = counted.get(instanceId) ?? new Set();
    counted.set(instanceId, soFar);
    if (added.has(message.id)) soFar.add(message.id);
    return { instanceId, inSeq: inSeq - added.size + soFar.size, epoch, owner };
  });
}

function postedOf(row: Row): PostedMessage {
  return {
    instanceId: row.text('id'),
    inSeq: row.number('in_seq'),
    epoch: row.number('epoch'),
    owner: row.textOrNull('owner'),
  };
}
