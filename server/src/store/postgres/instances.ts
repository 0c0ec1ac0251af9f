/**
 * Instances: reads, commits, takeovers, and searches for instances that need a node.
 *
 * Commits compare and set `{id, epoch, inSeq, revision}`, takeovers `{id, epoch}`. Operations that arrive at the same moment
 * share one statement.
 */
import { storedFailingSince } from '../failing-since.js';
import { GroupCommit } from '../group-commit.js';
import { failureText } from '../json-columns.js';
import type {
  InstanceRecord,
  CommitOutcome,
  InstanceCommit,
  DueInstance,
  InstanceClaim,
} from '../records/instances.js';
import type { Columns } from '../sql/columns.js';
import { CLAIM_NAMES, claimOf } from '../sql/instances.js';
import { changesSlots } from '../sql/slot-changes.js';
import type { OperationArguments, OperationResult } from '../store-operations.js';
import { encodeTextWithoutNul } from '../text-codec.js';
import {
  assignmentsOf,
  auditPart,
  fieldsPart,
  NO_CHANGE,
  queuedPart,
  versionsPart,
  windowPart,
} from './commit-parts.js';
import type { Database, Statements } from './database.js';
import { instanceOf, RECORD_NAMES, wakesOf, CHANGE_SPAN_MS } from './instance-rows.js';
import { insertDeliveriesParts, lengthOfDeliveries } from './notifications.js';
import { columnName } from './notation.js';
import { inLockOrder, Parameters, withParts } from './parameters.js';
import type { PostgresContext, Groups, Claim } from './postgres-context.js';
import { insertSideParts, removeSideParts } from './side-records.js';
import { indexChangeOf, termParts } from './terms.js';

/** A read returns whole records, which may be large. */
const READS_PER_STATEMENT = 16;

export function createReadGroup(database: Database): Groups['reads'] {
  return new GroupCommit({
    countMax: READS_PER_STATEMENT,
    send: (ids) => readAll(database, ids),
  });
}

export function getInstance(
  { groups }: PostgresContext,
  [id]: OperationArguments<'getInstance'>,
): Promise<InstanceRecord | null> {
  return groups.reads.submit(id);
}

async function readAll(
  database: Database,
  ids: readonly string[],
): Promise<readonly (InstanceRecord | null)[]> {
  const [first = ''] = ids;
  const isOne = ids.length === 1;
  const rows = await database.query(
    `SELECT ${RECORD_NAMES} FROM @instances WHERE id = ${isOne ? '$1' : 'ANY($1::text[])'}`,
    [isOne ? encodeTextWithoutNul(first) : ids.map(encodeTextWithoutNul)],
  );
  const found = new Map(rows.map((row) => [row.text('id'), row]));
  // Callers may change their record's parts, so each gets one of its own.
  return ids.map((id) => {
    const row = found.get(id);
    return row === undefined ? null : instanceOf(row);
  });
}

const COMMITS: Columns<InstanceCommit> = {
  id: ['text', ({ id }) => id],
  epoch: ['number', ({ epoch }) => epoch],
  in_seq: ['number', ({ inSeq }) => inSeq],
  revision: ['number', ({ revision }) => revision],
  status: ['text', ({ status }) => status],
  end_time: ['number', ({ endTime }) => endTime],
  outcome: ['text', ({ outcome }) => outcome],
  last_change_at: ['number', ({ lastChangeAt }) => lastChangeAt],
  error_at: ['number', ({ errorAt }) => errorAt],
  failing_since: ['number', (commit) => storedFailingSince(commit).failingSince],
  failing_error_at: ['number', (commit) => storedFailingSince(commit).failingErrorAt],
  failure_key: ['text', ({ failure }) => failure?.key ?? null],
  failure: ['text', ({ failure }) => failureText(failure)],
  wake_at: ['number', ({ wakeAt }) => wakeAt],
  under_way: ['boolean', ({ underWay }) => underWay],
  crashes: ['number', ({ crashes }) => crashes ?? 0],
  schema_version: ['number', ({ schemaVersion }) => schemaVersion],
  keep_inbox: ['boolean', ({ keepInbox }) => keepInbox === true],
  state: ['text', ({ state }) => state],
};

export function createCommitGroup(database: Database): Groups['commits'] {
  return new GroupCommit({
    keyOf: ({ id }) => id,
    sizeOf: sizeOfCommit,
    repeatLimits: database.repeatLimits,
    send: (commits) =>
      commitAll({ query: (text, values = []) => database.queryGroup(text, values) }, commits),
  });
}

/** Approximate number of characters. */
export function sizeOfCommit({ deliveries, side, state, window }: InstanceCommit): number {
  return (
    state.length +
    (window?.input?.length ?? 0) +
    (side.activities.length + side.history.length) * 1000 +
    lengthOfDeliveries(deliveries)
  );
}

export function commitInstance(
  { groups }: PostgresContext,
  [commit]: OperationArguments<'commitInstance'>,
): Promise<CommitOutcome> {
  return (changesSlots(commit) ? groups.slotCommits : groups.commits).submit(commit);
}

/** The outcomes in the order of the commits, without regard to their slots. */
export async function commitAll(
  statements: Pick<Statements, 'query'>,
  commits: readonly InstanceCommit[],
): Promise<readonly ('committed' | 'lost')[]> {
  const parameters = new Parameters();
  const rows = parameters.oneOrRows('w', inLockOrder(commits), COMMITS);
  const someWake = commits.some(({ underWay, wakeAt }) => wakeAt !== null || underWay);
  const someDoNot = commits.some(({ underWay, wakeAt }) => wakeAt === null && !underWay);
  const indexed = commits.filter(({ indexChange }) => indexChange !== undefined);
  const fields = fieldsPart(parameters, indexed);
  const versions = versionsPart(parameters, commits);
  const queued = queuedPart(parameters, commits);
  const window = windowPart(parameters, commits);
  const audited = auditPart(parameters, commits);
  const text = withParts(
    [
      fields?.part ?? null,
      versions?.part ?? null,
      queued?.part ?? null,
      window?.part ?? null,
      audited?.part ?? null,
      `changed AS (
  UPDATE @instances AS i SET
    status = w.status, end_time = w.end_time, outcome = w.outcome, last_change_at = w.last_change_at,
    error_at = w.error_at, failing_since = w.failing_since, failing_error_at = w.failing_error_at,
    failure_key = w.failure_key, failure = w.failure, wake_at = w.wake_at, under_way = w.under_way, crashes = w.crashes,
    schema_version = w.schema_version, state = w.state, revision = i.revision + 1,
    inbox_ids = CASE WHEN w.keep_inbox THEN i.inbox_ids ELSE '{}' END,
    inbox_bodies = CASE WHEN w.keep_inbox THEN i.inbox_bodies ELSE '{}' END,
    inbox_bytes = CASE WHEN w.keep_inbox THEN i.inbox_bytes ELSE 0 END${assignmentsOf(fields, versions, queued, window, audited)}
  FROM ${rows}
  WHERE i.id = w.id AND i.epoch = w.epoch AND i.in_seq = w.in_seq AND i.revision = w.revision
  RETURNING i.id, i.owner, i.wake_at, i.under_way, i.status, i.start_time
)`,
      someWake ? wakesOf('changed') : null,
      someDoNot
        ? `asleep AS (
  DELETE FROM @wakes WHERE id IN (SELECT id FROM changed WHERE wake_at IS NULL AND NOT under_way)
)`
        : null,
      ...insertSideParts(parameters, 'changed', commits.map(lastingSideOf)),
      ...insertDeliveriesParts(parameters, 'changed', commits),
      ...removeSideParts(parameters, 'changed', commits),
      ...termParts(
        parameters,
        'changed',
        indexed.map(({ id, indexChange = NO_CHANGE }) => indexChangeOf(id, indexChange)),
      ),
    ],
    'SELECT id FROM changed',
  );
  const changed = await statements.query(text, parameters.values);
  const ids = new Set(changed.map((row) => row.text('id')));
  return commits.map(({ id }) => (ids.has(id) ? 'committed' : 'lost'));
}

/** Without the records that the same commit removes: the parts of one statement don't see each other's writes. */
function lastingSideOf({ id, side, removeActivities, removeSubscriptions }: InstanceCommit) {
  if (removeActivities.length + removeSubscriptions.length === 0) return { id, side };
  const [activities, subscriptions] = [new Set(removeActivities), new Set(removeSubscriptions)];
  return {
    id,
    side: {
      history: side.history,
      subscriptions: side.subscriptions.filter((each) => !subscriptions.has(each.id)),
      activities: side.activities.filter((each) => !activities.has(each.id)),
    },
  };
}

/** The statement returns whole records, which may be large. */
const CLAIMS_PER_STATEMENT = 16;

const CLAIMS: Columns<Claim> = {
  id: ['text', ({ id }) => id],
  epoch: ['number', ({ epoch }) => epoch],
  owner: ['text', ({ owner }) => owner],
  crashes: ['number', ({ suspected }) => (suspected ? 1 : 0)],
  due: ['boolean', ({ due }) => due === true],
  resting: ['boolean', ({ resting }) => resting === true],
  schema_version_max: [
    'number',
    ({ schemaVersionMax }) => schemaVersionMax ?? Number.MAX_SAFE_INTEGER,
  ],
};

export function createClaimGroup(database: Database): Groups['claims'] {
  return new GroupCommit({
    keyOf: ({ id }) => id,
    countMax: CLAIMS_PER_STATEMENT,
    repeatLimits: database.repeatLimits,
    send: (claims) => claimAll(database, claims),
  });
}

export function claimInstance(
  { groups }: PostgresContext,
  [claim]: OperationArguments<'claimInstance'>,
): Promise<OperationResult<'claimInstance'>> {
  return groups.claims.submit(claim);
}

async function claimAll(
  database: Database,
  claims: readonly Claim[],
): Promise<readonly OperationResult<'claimInstance'>[]> {
  const parameters = new Parameters();
  const rows = parameters.oneOrRows('w', inLockOrder(claims), CLAIMS);
  const text = withParts(
    [
      `claimed AS (
  UPDATE @instances AS i SET owner = w.owner, epoch = i.epoch + 1, crashes = i.crashes + w.crashes,
         wake_at = CASE WHEN w.due THEN 0 ELSE i.wake_at END
    FROM ${rows}
   WHERE i.id = w.id AND i.epoch = w.epoch AND i.schema_version <= w.schema_version_max
     AND (NOT w.resting OR (i.inbox_bytes > 0 AND NOT i.under_way))
  RETURNING i.*
)`,
      wakesOf('claimed'),
    ],
    `SELECT ${RECORD_NAMES} FROM claimed`,
  );
  const claimed = await database.queryGroup(text, parameters.values);
  const byId = new Map(claimed.map((row) => [row.text('id'), instanceOf(row)]));
  return claims.map(({ id }) => byId.get(id) ?? null);
}

const CLAIM_COLUMNS = CLAIM_NAMES.map((name) => `i.${columnName(name)}`).join(', ');

export async function findDueInstances(
  { database }: PostgresContext,
  [dueBefore, limit, after]: OperationArguments<'findDueInstances'>,
): Promise<readonly DueInstance[]> {
  const parameters = new Parameters();
  const conditions = [`w.wake_at <= ${parameters.add(dueBefore)}`];
  if (after !== undefined) {
    const position = `${parameters.add(after.wakeAt)}, ${parameters.add(encodeTextWithoutNul(after.id))}`;
    conditions.push(`(w.wake_at, w.id) > (${position})`);
  }
  const found = await database.query(
    `SELECT ${CLAIM_COLUMNS}, w.wake_at AS due_at FROM @wakes AS w JOIN @instances AS i ON i.id = w.id
      WHERE ${conditions.join(' AND ')} ORDER BY w.wake_at, w.id LIMIT ${parameters.add(limit)}::bigint`,
    parameters.values,
  );
  return found.map((row) => ({ ...claimOf(row), wakeAt: row.number('due_at') }));
}

export async function findInstancesUnderWay(
  { database }: PostgresContext,
  [owner, afterId, limit]: OperationArguments<'findInstancesUnderWay'>,
): Promise<readonly InstanceClaim[]> {
  const parameters = new Parameters();
  const conditions = ['w.under_way', `w.owner = ${parameters.add(encodeTextWithoutNul(owner))}`];
  if (afterId !== null) conditions.push(`w.id > ${parameters.add(encodeTextWithoutNul(afterId))}`);
  const found = await database.query(
    `SELECT ${CLAIM_COLUMNS} FROM @wakes AS w JOIN @instances AS i ON i.id = w.id
      WHERE ${conditions.join(' AND ')} ORDER BY w.id LIMIT ${parameters.add(limit)}::bigint`,
    parameters.values,
  );
  return found.map(claimOf);
}

/** Uses the index on `change_span`; only the rows of one span have to be sorted. */
export async function findChangedInstances(
  { database }: PostgresContext,
  [owner, after, limit]: OperationArguments<'findChangedInstances'>,
): Promise<readonly InstanceClaim[]> {
  const found = await database.query(
    `SELECT ${CLAIM_COLUMNS} FROM @instances AS i
      WHERE i.status = 'Runnable' AND i.owner = $1 AND i.change_span >= $2 AND (i.last_change_at, i.id) > ($3, $4)
      ORDER BY i.change_span, i.last_change_at, i.id LIMIT $5::bigint`,
    [
      encodeTextWithoutNul(owner),
      Math.floor(after.time / CHANGE_SPAN_MS),
      after.time,
      encodeTextWithoutNul(after.id),
      limit,
    ],
  );
  return found.map(claimOf);
}
