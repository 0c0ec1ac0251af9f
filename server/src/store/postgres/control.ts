/** Control actions: one update changes the status, wakes the owner, and records who did it. */
import type { OperationArguments, OperationResult } from '../store-operations.js';
import { NEXT_STATUS, type AuditEntry } from '../records/control.js';
import { messageBytes, type InboxMessage } from '../records/messages.js';
import { StoreUnavailableError } from '../store.js';
import { encodeTextWithoutNul } from '../text-codec.js';
import { appendedAudit, auditBodyOf } from './audit.js';
import { instanceOf, RECORD_NAMES, wakesOf } from './instance-rows.js';
import { getInstance } from './instances.js';
import { Parameters, withParts } from './parameters.js';
import type { PostgresContext } from './postgres-context.js';
import { settleAllPart } from './side-records.js';

/** How many times another writer may change the instance between an update without effect and the check of the reason. */
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
