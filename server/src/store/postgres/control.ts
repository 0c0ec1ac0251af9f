/**
 * Changes to an instance from outside its owner: control actions, tags, links, index fields, and the audit log in the
 * instance's row. Each is one update that also wakes the owner, or makes it read the instance again.
 */
import { TAGS_MAX } from '../../engine/values/tags.js';
import { tagTerms, termChanges } from '../index-terms.js';
import { indexText, tagsText } from '../json-columns.js';
import { NEXT_STATUS, type AuditEntry, patchedTags } from '../records/control.js';
import type { InstanceRecord } from '../records/instances.js';
import { placesKeyOf } from '../records/places.js';
import { slotsKeyOf } from '../records/slots.js';
import { itemsQueueOf } from '../records/turns.js';
import { enterLines } from '../sql/line-entries.js';
import { messageBytes, type InboxMessage } from '../records/messages.js';
import type { OperationArguments, OperationResult } from '../store-operations.js';
import { StoreUnavailableError } from '../store.js';
import { encodeTextWithoutNul } from '../text-codec.js';
import {
  instanceOf,
  RECORD_NAMES,
  wakesOf,
  encodeOptional,
  appendedAudit,
  auditBodyOf,
} from './instance-rows.js';
import { getInstance } from './instances.js';
import type { Statements } from './database.js';
import { lockKeys } from './key-locks.js';
import { Parameters, withParts } from './parameters.js';
import type { PostgresContext } from './postgres-context.js';
import { runSteps } from './shared-operations.js';
import { settleAllPart } from './side-records.js';
import { shareTurns } from './turn-locks.js';
import { indexChangeOf, termParts } from './terms.js';

/** How many times other writers may change an instance between a read and an update that depends on it. */
const ATTEMPTS_MAX = 10;

const MAKE_DEFERRED_AVAILABLE = `undeferred AS (
  UPDATE @activities SET available_at = created_at, deferred = false
   WHERE instance_id IN (SELECT id FROM changed) AND deferred
)`;

export async function controlInstance(
  context: PostgresContext,
  [id, action, at, audit, message]: OperationArguments<'controlInstance'>,
): Promise<OperationResult<'controlInstance'>> {
  const { from, to } = NEXT_STATUS[action];
  const isEnd = action === 'terminate';
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const parameters = new Parameters();
    const change = changePart(parameters, { id, from, to, at, isEnd, audit, message });
    const activities = isEnd ? settleAllPart('changed') : MAKE_DEFERRED_AVAILABLE;
    const text = withParts(
      [change, wakesOf('changed'), to === 'Suspended' ? null : activities],
      `SELECT ${RECORD_NAMES} FROM changed`,
    );
    const [changed] = await context.database.query(text, parameters.values);
    if (changed !== undefined) return { outcome: 'done', record: instanceOf(changed) };
    const record = await getInstance(context, [id]);
    if (record === null) return { outcome: 'missing' };
    const isTold = record.inbox.some((known) => known.id === message?.id);
    if (isTold || !from.includes(record.status)) return { outcome: 'refused', record };
  }
  throw new StoreUnavailableError(`The instance ${id} has too many concurrent writers`);
}

function changePart(
  parameters: Parameters,
  change: {
    readonly id: string;
    readonly from: readonly string[];
    readonly to: string;
    readonly at: number;
    readonly isEnd: boolean;
    readonly audit: AuditEntry | undefined;
    readonly message: InboxMessage | undefined;
  },
): string {
  const { audit, message } = change;
  const at = parameters.add(change.at);
  const assignments = [
    `status = ${parameters.add(change.to)}`,
    'in_seq = in_seq + 1',
    'wake_at = 0',
    `last_change_at = ${at}`,
  ];
  if (change.isEnd) {
    const failure = ['failure_key = NULL', 'failure = NULL'];
    assignments.push(`end_time = ${at}`, `outcome = 'Terminated'`, ...failure);
  }
  if (audit !== undefined) {
    const added = `ARRAY[${parameters.add(auditBodyOf(audit))}]`;
    assignments.push(`audit = ${appendedAudit('audit', added)}`);
  }
  const conditions = [
    `id = ${parameters.add(encodeTextWithoutNul(change.id))}`,
    `status = ANY(${parameters.add(change.from)}::text[])`,
  ];
  if (message !== undefined) {
    const id = parameters.add(encodeTextWithoutNul(message.id));
    const body = parameters.add(encodeTextWithoutNul(message.body));
    assignments.push(
      `inbox_ids = inbox_ids || ARRAY[${id}]::text[]`,
      `inbox_bodies = inbox_bodies || ARRAY[${body}]::text[]`,
      `inbox_bytes = inbox_bytes + ${parameters.add(messageBytes(message))}::bigint`,
    );
    conditions.push(`${id} <> ALL(inbox_ids)`);
  }
  return `changed AS (
  UPDATE @instances SET ${assignments.join(', ')} WHERE ${conditions.join(' AND ')} RETURNING *
)`;
}

export async function patchTags(
  context: PostgresContext,
  [id, changes, audit]: OperationArguments<'patchTags'>,
): Promise<OperationResult<'patchTags'>> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const record = await getInstance(context, [id]);
    if (record === null) return { outcome: 'missing' };
    const tags = patchedTags(record.tags, changes);
    if (Object.keys(tags).length > TAGS_MAX) return { outcome: 'too-many', record };
    const parameters = new Parameters();
    const terms = { id, ...termChanges(tagTerms(record.tags), tagTerms(tags)) };
    const [before, after] = [record.tags, tags].map((each) =>
      parameters.add(encodeOptional(tagsText(each))),
    );
    const added = `ARRAY[${parameters.add(auditBodyOf(audit))}]`;
    const changed = `changed AS (
  UPDATE @instances SET tags = ${after}::text, in_seq = in_seq + 1, audit = ${appendedAudit('audit', added)}
   WHERE id = ${parameters.add(encodeTextWithoutNul(id))} AND tags IS NOT DISTINCT FROM ${before}::text
  RETURNING *
)`;
    const text = withParts(
      [changed, ...termParts(parameters, 'changed', [terms])],
      `SELECT ${RECORD_NAMES} FROM changed`,
    );
    const [row] = await context.database.query(text, parameters.values);
    if (row !== undefined) return { outcome: 'done', record: instanceOf(row) };
  }
  throw new StoreUnavailableError(`The tags of instance ${id} have too many concurrent writers`);
}

/** The second statement sees the items of every commit that was before the first one, and locks them in the order of their ids. */
export async function setPriority(
  context: PostgresContext,
  [id, priority, audit]: OperationArguments<'setPriority'>,
): Promise<OperationResult<'setPriority'>> {
  const key = encodeTextWithoutNul(id);
  const locks = await linesOf(context.database, key);
  const changed = await context.database.transaction(async (statements) => {
    await lockKeys(statements, locks);
    const [row] = await statements.query(
      `UPDATE @instances SET priority = $2::bigint, in_seq = in_seq + 1, audit = ${appendedAudit('audit', 'ARRAY[$3]')}
        WHERE id = $1 AND status IN ('Runnable', 'Suspended') RETURNING ${RECORD_NAMES}`,
      [key, priority, auditBodyOf(audit)],
    );
    if (row === undefined) return null;
    await statements.query(
      `WITH item AS MATERIALIZED (
         SELECT id FROM @activities WHERE instance_id = $1 AND NOT done ORDER BY id FOR UPDATE
       )
       UPDATE @activities AS a SET priority = $2::bigint FROM item WHERE a.id = item.id`,
      [key, priority],
    );
    const move = 'UPDATE @slot_waits SET priority = $2::bigint WHERE instance_id = $1';
    await statements.execute(move, [key, priority]);
    const record = instanceOf(row);
    await enterNewLines(statements, record);
    return record;
  });
  if (changed !== null) return { outcome: 'done', record: changed };
  const record = await getInstance(context, [id]);
  return record === null ? { outcome: 'missing' } : { outcome: 'refused', record };
}

/** The keys of the lines in which it waits for slots, and for a place. */
async function linesOf(database: Statements, key: string): Promise<readonly string[]> {
  const rows = await database.query(
    `SELECT DISTINCT i.definition_id, w.limit_name, w.limit_key,
            CASE WHEN i.place = 'waiting' AND i.fairness_key <> '' THEN i.concurrency_key END AS concurrency_key
       FROM @instances AS i LEFT JOIN @slot_waits AS w ON w.instance_id = i.id WHERE i.id = $1`,
    [key],
  );
  return rows.flatMap((row) => {
    const [limit, place] = [row.textOrNull('limit_name'), row.textOrNull('concurrency_key')];
    const waits = limit === null ? [] : [slotsKeyOf({ limit, key: row.text('limit_key') })];
    if (place === null) return waits;
    return [...waits, placesKeyOf({ definitionId: row.text('definition_id'), key: place })];
  });
}

async function enterNewLines(statements: Statements, record: InstanceRecord): Promise<void> {
  if (record.fairness === null) return;
  const names = await statements.query(
    'SELECT DISTINCT name FROM @activities WHERE instance_id = $1 AND NOT done AND NOT settled',
    [encodeTextWithoutNul(record.id)],
  );
  await shareTurns(
    statements,
    names.map((row) => itemsQueueOf(row.text('name'))),
  );
  await runSteps(statements, enterLines(record, record.priority));
}

export async function linkRestart(
  { database }: PostgresContext,
  [id, restartedAs, audit]: OperationArguments<'linkRestart'>,
): Promise<boolean> {
  const text = `UPDATE @instances
    SET restarted_as = $2, in_seq = in_seq + 1, audit = ${appendedAudit('audit', 'ARRAY[$3]')},
        failure_key = CASE WHEN end_time IS NULL THEN failure_key END,
        failure = CASE WHEN end_time IS NULL THEN failure END
    WHERE id = $1`;
  const values = [encodeTextWithoutNul(id), encodeTextWithoutNul(restartedAs), auditBodyOf(audit)];
  return (await database.execute(text, values)) > 0;
}

export async function replaceIndex(
  { database }: PostgresContext,
  [{ id, inSeq, revision }, change]: OperationArguments<'replaceIndex'>,
): Promise<boolean> {
  const parameters = new Parameters();
  const changed = `changed AS (
  UPDATE @instances SET fields = ${parameters.add(encodeOptional(indexText(change.after)))}::text, in_seq = in_seq + 1
   WHERE id = ${parameters.add(encodeTextWithoutNul(id))} AND in_seq = ${parameters.add(inSeq)}::bigint
     AND revision = ${parameters.add(revision)}::bigint
  RETURNING id, start_time
)`;
  const text = withParts(
    [changed, ...termParts(parameters, 'changed', [indexChangeOf(id, change)])],
    'SELECT id FROM changed',
  );
  return (await database.query(text, parameters.values)).length > 0;
}

export async function appendAudit(
  { database }: PostgresContext,
  [instanceId, entry]: OperationArguments<'appendAudit'>,
): Promise<boolean> {
  const text = `UPDATE @instances SET audit = ${appendedAudit('audit', 'ARRAY[$2]')} WHERE id = $1`;
  const values = [encodeTextWithoutNul(instanceId), auditBodyOf(entry)];
  return (await database.execute(text, values)) > 0;
}

export async function listAudit(
  { database }: PostgresContext,
  [instanceId]: OperationArguments<'listAudit'>,
): Promise<readonly AuditEntry[] | null> {
  const [found] = await database.query('SELECT audit FROM @instances WHERE id = $1', [
    encodeTextWithoutNul(instanceId),
  ]);
  if (found === undefined) return null;
  // Written by `auditBodyOf`.
  return found
    .texts('audit')
    .toReversed()
    .map((body) => JSON.parse(body) as AuditEntry);
}
