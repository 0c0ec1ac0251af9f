/**
 * Messages to instances: one update appends, counts and wakes (rules S3 and S8), for all messages that arrive at the same
 * moment.
 */
import { GroupCommit } from '../group-commit.js';
import { INBOX_BYTES_MAX, messageBytes } from '../records/messages.js';
import type { PostedMessage } from '../records/posted-messages.js';
import type { Columns } from '../sql/columns.js';
import type { OperationArguments, OperationResult } from '../store-operations.js';
import { StoreUnavailableError } from '../store.js';
import { encodeTextWithoutNul } from '../text-codec.js';
import type { Database } from './database.js';
import {
  appendedAudit,
  auditBodyOf,
  HAS_OVERFLOWED,
  OVERFLOW_BODY,
  OVERFLOW_ID,
  restedWith,
  wakesOf,
} from './instance-rows.js';
import {
  claimAssignments,
  claimCell,
  claimedColumns,
  claimedIn,
  isClaimed,
  ONE_CLAIM,
} from './message-claims.js';
import { Parameters, withParts } from './parameters.js';
import type { Groups, Message, PostgresContext } from './postgres-context.js';
import type { Row } from './row.js';

/** How many times another writer may change the instance between an update without effect and the check of the reason. */
const ATTEMPTS_MAX = 10;
/** Maximum number of calls that share a statement; each may have many messages. */
const CALLS_PER_STATEMENT = 50;

type Placed = readonly [message: Message, position: number];

const COLUMNS: Columns<Placed> = {
  instance_id: ['text', ([{ instanceId }]) => instanceId],
  message_id: ['text', ([{ message }]) => message.id],
  body: ['text', ([{ message }]) => message.body],
  bytes: ['number', ([{ message }]) => messageBytes(message)],
  position: ['number', ([, position]) => position],
};
const AUDIT_COLUMN: Columns<Placed> = {
  audit: ['text', ([{ audit }]) => (audit === undefined ? null : auditBodyOf(audit))],
};
const CLAIM_COLUMN: Columns<Placed> = {
  claim: ['text', ([{ claimer }]) => claimCell(claimer)],
};

export function createMessageGroup(database: Database): Groups['messages'] {
  return new GroupCommit<readonly Message[], readonly (PostedMessage | null)[]>({
    sizeOf: (messages) => messages.reduce((sum, { message }) => sum + message.body.length, 0),
    countMax: CALLS_PER_STATEMENT,
    repeatLimits: database.repeatLimits,
    send: async (calls) => {
      const posted = await postAll(database, calls.flat());
      return calls.map((messages) => messages.map((each) => posted.get(keyOf(each)) ?? null));
    },
  });
}

export async function postMessages(
  { groups }: PostgresContext,
  [messages, claimer]: OperationArguments<'postMessages'>,
): Promise<OperationResult<'postMessages'>> {
  if (messages.length === 0) return [];
  const claiming =
    claimer === undefined ? messages : messages.map((each) => ({ ...each, claimer }));
  return groups.messages.submit(claiming);
}

/**
 * Sends one statement, and further ones only for instances that didn't accept their messages because they already have
 * some of them, are full or have ended. Returns the results by `keyOf`; messages that no instance accepts are missing.
 */
async function postAll(
  database: Database,
  messages: readonly Message[],
): Promise<ReadonlyMap<string, PostedMessage>> {
  const wanted = withoutRepeated(messages);
  const posted = new Map<string, PostedMessage>();
  const added = new Map((await append(database, wanted)).map((each) => [each.instanceId, each]));
  const left: Message[] = [];
  const first = new Map(wanted.toReversed().map((each) => [each.instanceId, each]));
  // From the last one backwards: the values of the instance right after each was added. The first one has claimed it.
  for (const each of wanted.toReversed()) {
    const answer = added.get(each.instanceId);
    if (answer === undefined) {
      left.unshift(each);
    } else {
      const { epoch, inSeq, instanceId, owner } = answer;
      const isFirst = first.get(instanceId) === each;
      posted.set(
        keyOf(each),
        isFirst ? answer : { instanceId, inSeq, epoch, owner, rested: false },
      );
      added.set(instanceId, { ...answer, inSeq: inSeq - 1 });
    }
  }
  if (left.length === 0) return posted;
  const live = await findLive(database, left);
  for (const each of left) {
    const answer = live.has(each.instanceId) ? await postOne(database, each) : null;
    if (answer !== null) posted.set(keyOf(each), answer);
  }
  return posted;
}

/** Posts to an open instance, which may be full or already have the message. */
async function postOne(database: Database, message: Message): Promise<PostedMessage | null> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const answer = await appendOne(database, message);
    if (answer !== null) return answer;
    const known = await findUnchanged(database, message);
    if (known === null) return null;
    if (known.boolean('has')) return postedOf(known);
    if (known.boolean('overflowed')) return { ...postedOf(known), overflowed: true };
  }
  throw new StoreUnavailableError('An instance has too many concurrent writers');
}

/** Adds to each instance all of its messages, unless it already has one of them or they don't all fit. */
async function append(
  database: Database,
  messages: readonly Message[],
): Promise<readonly PostedMessage[]> {
  const isNoted = messages.some(({ audit }) => audit !== undefined);
  const claims = messages.some(({ claimer }) => claimer !== undefined);
  const parameters = new Parameters();
  const placed = messages.map((message, position) => [message, position] as const);
  const source = parameters.oneOrRows('m', placed, {
    ...COLUMNS,
    ...(isNoted && AUDIT_COLUMN),
    ...(claims && CLAIM_COLUMN),
  });
  const text = withParts(
    [postedPart(source, { isNoted, claims }), wakesOf('posted')],
    `SELECT id, in_seq, epoch, owner, rested${claims ? `, ${claimedColumns('posted', 'claimed')}` : ''} FROM posted`,
  );
  const rows = await database.queryGroup(text, parameters.values);
  return rows.map(claims ? claimedOf : postedOf);
}

/**
 * The part of a statement that adds messages to their instances, several in the order of `position`. An instance that has
 * one of them already, or no room for all of them, is left out.
 *
 * @param source rows with `instance_id`, `message_id`, `body`, `bytes`, `position`, `audit` if `isNoted`, and `claim` if `claims`
 */
export function postedPart(
  source: string,
  { claims, isNoted }: { readonly claims: boolean; readonly isNoted: boolean },
): string {
  return `posted AS (
  UPDATE @instances AS i SET
    inbox_ids = i.inbox_ids || w.ids, inbox_bodies = i.inbox_bodies || w.bodies,
    inbox_bytes = i.inbox_bytes + w.bytes, in_seq = i.in_seq + cardinality(w.ids), wake_at = 0
    ${isNoted ? `, audit = ${appendedAudit('i.audit', 'w.audit')}` : ''}${claims ? `, ${claimAssignments('w.claim')}` : ''}
  FROM (
    SELECT instance_id, array_agg(message_id ORDER BY position) AS ids, array_agg(body ORDER BY position) AS bodies,
           sum(bytes) AS bytes, (array_agg(bytes ORDER BY position DESC))[1] AS last_bytes
           ${isNoted ? ', array_agg(audit ORDER BY position) FILTER (WHERE audit IS NOT NULL) AS audit' : ''}
           ${claims ? `, ${ONE_CLAIM}` : ''}
      FROM ${source} GROUP BY instance_id ORDER BY instance_id COLLATE "C"
  ) AS w
  WHERE i.id = w.instance_id AND i.status IN ('Runnable', 'Suspended') AND NOT i.inbox_ids && w.ids
    AND i.inbox_bytes + w.bytes - w.last_bytes < ${INBOX_BYTES_MAX}
  RETURNING ${claims ? 'i.*' : 'i.id, i.in_seq, i.epoch, i.owner, i.wake_at, i.under_way'}, w.ids,
            ${restedWith('w.bytes')} AS rested
            ${claims ? `, ${restedWith('w.bytes')} AND ${isClaimed('w.claim', EPOCH_BEFORE)} AS claimed` : ''}
)`;
}

/** A statement doesn't see its own changes. */
const EPOCH_BEFORE = '(SELECT o.epoch FROM @instances AS o WHERE o.id = i.id)';

/**
 * Adds one message, or the one that replaces messages that don't fit (rule S8). Null: nothing changed, because the instance
 * has ended, or has it already.
 */
async function appendOne(
  database: Database,
  { audit, instanceId, message, toFullInbox }: Message,
): Promise<PostedMessage | null> {
  const parameters = new Parameters();
  const id = parameters.add(encodeTextWithoutNul(message.id));
  const body = parameters.add(encodeTextWithoutNul(message.body));
  const fits = `(${parameters.add(toFullInbox === true)} OR i.inbox_bytes < ${INBOX_BYTES_MAX})`;
  const noted =
    audit === undefined
      ? ''
      : `, audit = ${appendedAudit('i.audit', `ARRAY[${parameters.add(auditBodyOf(audit))}]`)}`;
  const text = withParts(
    [
      `posted AS (
  UPDATE @instances AS i SET
    inbox_ids = i.inbox_ids || CASE WHEN ${fits} THEN ${id}::text ELSE ${OVERFLOW_ID} END,
    inbox_bodies = i.inbox_bodies || CASE WHEN ${fits} THEN ${body}::text ELSE ${OVERFLOW_BODY} END,
    inbox_bytes = i.inbox_bytes + CASE WHEN ${fits} THEN ${parameters.add(messageBytes(message))}::bigint ELSE 0 END,
    in_seq = i.in_seq + 1, wake_at = 0${noted}
  WHERE i.id = ${parameters.add(encodeTextWithoutNul(instanceId))} AND i.status IN ('Runnable', 'Suspended')
    AND ${id} <> ALL(i.inbox_ids) AND (${fits} OR NOT ${HAS_OVERFLOWED})
  RETURNING i.id, i.in_seq, i.epoch, i.owner, i.wake_at, i.under_way, false AS rested, ${id} <> ALL(i.inbox_ids) AS overflowed
)`,
      wakesOf('posted'),
    ],
    'SELECT id, in_seq, epoch, owner, rested, overflowed FROM posted',
  );
  const [row] = await database.query(text, parameters.values);
  if (row === undefined) return null;
  return { ...postedOf(row), ...(row.boolean('overflowed') && { overflowed: true }) };
}

/**
 * The instance whose inbox `appendOne` didn't change: `has` the message, or `overflowed`. In the latter case, the action is
 * recorded here. Null: the instance has ended.
 */
async function findUnchanged(
  database: Database,
  { audit, instanceId, message, toFullInbox }: Message,
): Promise<Row | null> {
  const has = '$2 = ANY(i.inbox_ids)';
  const values = [encodeTextWithoutNul(instanceId), encodeTextWithoutNul(message.id)];
  const isFull = `i.inbox_bytes >= ${INBOX_BYTES_MAX} AND ${HAS_OVERFLOWED}`;
  const overflowed = toFullInbox === true ? 'false' : `NOT ${has} AND ${isFull}`;
  const live = `i.id = $1 AND i.status IN ('Runnable', 'Suspended')`;
  const columns = `i.id, i.in_seq, i.epoch, i.owner, false AS rested, ${has} AS has, ${overflowed} AS overflowed`;
  if (audit !== undefined) {
    const [noted] = await database.query(
      `UPDATE @instances AS i SET audit = ${appendedAudit('i.audit', 'ARRAY[$3]')}
        WHERE ${live} AND ${overflowed} RETURNING ${columns}`,
      [...values, auditBodyOf(audit)],
    );
    if (noted !== undefined) return noted;
  }
  const [row] = await database.query(
    `SELECT ${columns} FROM @instances AS i WHERE ${live}`,
    values,
  );
  return row ?? null;
}

/** The ids of the instances of these messages that accept messages. */
async function findLive(
  database: Database,
  messages: readonly Message[],
): Promise<ReadonlySet<string>> {
  const ids = [...new Set(messages.map(({ instanceId }) => instanceId))];
  const rows = await database.query(
    `SELECT id FROM @instances WHERE id = ANY($1::text[]) AND status IN ('Runnable', 'Suspended')`,
    [ids.map(encodeTextWithoutNul)],
  );
  return new Set(rows.map((row) => row.text('id')));
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

function keyOf({ instanceId, message }: Message): string {
  return JSON.stringify([instanceId, message.id]);
}

export function postedOf(row: Row): PostedMessage {
  return {
    instanceId: row.text('id'),
    inSeq: row.number('in_seq'),
    epoch: row.number('epoch'),
    owner: row.textOrNull('owner'),
    rested: row.boolean('rested'),
  };
}

/** The answer of a statement in which some message has a claimer. */
export function claimedOf(row: Row): PostedMessage {
  return { ...postedOf(row), ...claimedIn(row) };
}
