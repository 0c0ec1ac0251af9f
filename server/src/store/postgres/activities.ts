/**
 * Claimed activities: results, leases, takeovers, and completed items that their instances haven't settled.
 *
 * One statement completes the items of all results that arrive at the same moment, and adds the messages to their instances.
 * Like a commit, it first locks the instances and then the items, each in the order of their ids (PG6, lock order). Its
 * decisions depend on the rows as they are once they are locked.
 */
import { GroupCommit } from '../group-commit.js';
import type { ActivityRecord, HeldClaim } from '../records/activities.js';
import { INBOX_BYTES_MAX, messageBytes } from '../records/messages.js';
import { slotsKeyOf, type NeededSlot } from '../records/slots.js';
import {
  activityOf,
  activityResultOf,
  extendFree,
  extendHolding,
  needsHeld,
} from '../sql/activities.js';
import type { Columns } from '../sql/columns.js';
import { waitedAmong } from '../sql/slot-rows.js';
import type { OperationArguments, OperationResult } from '../store-operations.js';
import { FAR_FUTURE_MS } from '../store.js';
import { encodeTextWithoutNul } from '../text-codec.js';
import type { Database } from './database.js';
import { lockKeys } from './key-locks.js';
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
import type { PostgresContext, ActivityCompletion, Groups } from './postgres-context.js';
import type { Row } from './row.js';
import { runSteps } from './shared-operations.js';

export async function getActivities(
  { database }: PostgresContext,
  [ids]: OperationArguments<'getActivities'>,
): Promise<readonly ActivityRecord[]> {
  const rows = await database.query('SELECT * FROM @activities WHERE id = ANY($1::text[])', [
    ids.map(encodeTextWithoutNul),
  ]);
  return rows.map(activityOf);
}

const HELD_CLAIMS: Columns<HeldClaim> = {
  id: ['text', ({ activityId }) => activityId],
  token_hash: ['text', ({ tokenHash }) => tokenHash],
};

/** Locks the items in the order of their ids, like completions. Those that have slots come afterwards. */
export async function keepClaims(
  { database }: PostgresContext,
  [claims, now]: OperationArguments<'keepClaims'>,
): Promise<void> {
  const parameters = new Parameters();
  const rows = await database.query(
    `WITH item AS MATERIALIZED (
       SELECT a.* FROM @activities AS a JOIN ${parameters.rows('g', claims, HELD_CLAIMS)} ON g.id = a.id
        WHERE a.token_hash = g.token_hash AND NOT a.done ORDER BY a.id FOR UPDATE OF a
     ),
     kept AS (
       UPDATE @activities AS a SET available_at = ${FAR_FUTURE_MS}, deferred = false
         FROM item WHERE a.id = item.id AND item.needs IS NULL
     )
     SELECT * FROM item WHERE needs IS NOT NULL ORDER BY id`,
    parameters.values,
  );
  const held = rows.map(activityOf).map(({ id, needs = [], tokenHash }) => ({
    activityId: id,
    needs,
    tokenHash: tokenHash ?? '',
  }));
  await extendHeld(database, held, { leaseExpiresAt: FAR_FUTURE_MS, now });
}

export async function extendActivity(
  { database }: PostgresContext,
  [activityId, tokenHash, leaseExpiresAt, now]: OperationArguments<'extendActivity'>,
): Promise<Extended> {
  const claim = { activityId, tokenHash };
  const extended = await runSteps(database, extendFree(claim, leaseExpiresAt));
  if (extended !== null) return extended;
  const needs = await runSteps(database, needsHeld(claim));
  const [held] = await extendHeld(database, [{ ...claim, needs }], { leaseExpiresAt, now });
  return held ?? null;
}

type Extended = OperationResult<'extendActivity'>;

/** Under the locks of their keys: others may be getting their slots at this moment. */
async function extendHeld(
  database: Database,
  claims: readonly (HeldClaim & { readonly needs: readonly NeededSlot[] })[],
  { leaseExpiresAt, now }: { readonly leaseExpiresAt: number; readonly now: number },
): Promise<readonly Extended[]> {
  const keys = claims.flatMap(({ needs }) => needs.map(slotsKeyOf));
  if (keys.length === 0) return [];
  return database.transaction(async (statements) => {
    await lockKeys(statements, keys);
    const extended: Extended[] = [];
    for (const { needs, ...claim } of claims) {
      const holder = { ...claim, slots: needs.length };
      extended.push(await runSteps(statements, extendHolding(holder, leaseExpiresAt, now)));
    }
    return extended;
  });
}

/**
 * Waits for claims that are taking some of these items, so that the answer shows them. Items that others lock at the same
 * time are locked in the order of their ids.
 */
export async function withdrawActivities(
  { database }: PostgresContext,
  [ids]: OperationArguments<'withdrawActivities'>,
): Promise<readonly ActivityRecord[]> {
  const rows = await database.query(
    `WITH item AS MATERIALIZED (
       SELECT * FROM @activities WHERE id = ANY($1::text[]) ORDER BY id FOR UPDATE
     ),
     withdrawn AS (
       UPDATE @activities AS a
          SET settled = true, deferred = false,
              available_at = CASE WHEN item.deferred THEN item.created_at ELSE item.available_at END
         FROM item WHERE a.id = item.id AND NOT item.done AND NOT item.settled
       RETURNING a.*
     )
     SELECT * FROM withdrawn UNION ALL SELECT * FROM item WHERE done OR settled`,
    [ids.map(encodeTextWithoutNul)],
  );
  return rows.map(activityOf);
}

/**
 * Items of instances that have ended or been removed in the meantime are settled here. The commit that ended the instance
 * doesn't look for them, because there are almost never any.
 */
export async function findUnsettledActivities(
  { database }: PostgresContext,
  [doneBefore, limit, after]: OperationArguments<'findUnsettledActivities'>,
): Promise<OperationResult<'findUnsettledActivities'>> {
  const rows = await database.query(
    `WITH found AS MATERIALIZED (
       SELECT item.*, EXISTS (
         SELECT FROM @instances AS instance
          WHERE instance.id = item.instance_id AND instance.status IN ('Runnable', 'Suspended')) AS is_wanted
         FROM @activities AS item WHERE item.done AND NOT item.settled AND item.done_at < $1::bigint
               ${after === undefined ? '' : 'AND (item.done_at, item.id) > ($3::bigint, $4::text)'}
        ORDER BY item.done_at, item.id LIMIT $2::bigint
     ),
     unwanted AS (
       UPDATE @activities AS item SET settled = true FROM found WHERE item.id = found.id AND NOT found.is_wanted
     )
     SELECT * FROM found WHERE is_wanted ORDER BY done_at, id`,
    [
      doneBefore,
      limit,
      ...(after === undefined ? [] : [after.doneAt, encodeTextWithoutNul(after.id)]),
    ],
  );
  return rows.map((row) => ({
    ...activityOf(row),
    doneAt: row.number('done_at'),
    result: activityResultOf(row),
  }));
}

type Outcome = OperationResult<'completeActivity'>;
type Placed = readonly [completion: ActivityCompletion, position: number];

const COMPLETIONS: Columns<Placed> = {
  position: ['number', ([, position]) => position],
  id: ['text', ([{ activityId }]) => activityId],
  token_hash: ['text', ([{ tokenHash }]) => tokenHash],
  now: ['number', ([{ now }]) => now],
  succeeded: ['boolean', ([{ result }]) => result.succeeded],
  result_hash: ['text', ([{ result }]) => result.hash],
  result_data: ['text', ([{ result }]) => result.data],
  message_id: ['text', ([{ message }]) => message.id],
  body: ['text', ([{ message }]) => message.body],
  bytes: ['number', ([{ message }]) => messageBytes(message)],
  audit: ['text', ([{ audit }]) => (audit === undefined ? null : auditBodyOf(audit))],
};
const COMPLETIONS_WITH_CLAIM: Columns<Placed> = {
  ...COMPLETIONS,
  claim: ['text', ([{ claimer }]) => claimCell(claimer)],
};

const IS_HELD = 'a.token_hash = g.token_hash AND NOT a.done';

const LOCKED_INSTANCES = `locked AS MATERIALIZED (
  SELECT i.id, i.status IN ('Runnable', 'Suspended') AS is_live, i.inbox_ids, i.inbox_bytes, i.in_seq, i.epoch, i.owner,
         ${HAS_OVERFLOWED} AS has_overflowed, ${restedWith('0')} AS rested
    FROM @instances AS i
   WHERE i.id IN (SELECT a.instance_id FROM @activities AS a JOIN given AS g ON g.id = a.id WHERE ${IS_HELD})
   ORDER BY i.id FOR UPDATE
)`;

/** The condition on `locked` is always true; it makes the server lock the instances first. */
const LOCKED_ITEMS = `item AS MATERIALIZED (
  SELECT a.id, a.instance_id, g.position FROM @activities AS a JOIN given AS g ON g.id = a.id
   WHERE ${IS_HELD} AND (SELECT count(*) FROM locked) >= 0
   ORDER BY a.id FOR UPDATE OF a
)`;

/** The messages that their instances don't have yet. Each fits unless earlier ones have filled the inbox (rule S8). */
const freshPart = (claims: boolean) => `lacked AS MATERIALIZED (
  SELECT item.instance_id, g.position, g.message_id, g.body, g.bytes, g.audit${claims ? ', g.claim' : ''}, NOT locked.has_overflowed AS is_first,
         locked.inbox_bytes + sum(g.bytes) OVER (PARTITION BY item.instance_id ORDER BY g.position) - g.bytes
           < ${INBOX_BYTES_MAX} AS fits
    FROM item JOIN given AS g USING (position) JOIN locked ON locked.id = item.instance_id
   WHERE locked.is_live AND NOT g.message_id = ANY (locked.inbox_ids)
), fresh AS MATERIALIZED (
  SELECT *, NOT fits AND is_first AS overflows,
         count(*) FILTER (WHERE fits) OVER (PARTITION BY instance_id ORDER BY position) + (NOT fits AND is_first)::int AS added
    FROM lacked
)`;

const postedPart = (claims: boolean) => `posted AS (
  UPDATE @instances AS i SET
         inbox_ids = i.inbox_ids || m.ids || CASE WHEN m.overflows THEN ARRAY[${OVERFLOW_ID}] ELSE '{}' END,
         inbox_bodies = i.inbox_bodies || m.bodies || CASE WHEN m.overflows THEN ARRAY[${OVERFLOW_BODY}] ELSE '{}' END,
         inbox_bytes = i.inbox_bytes + m.bytes, in_seq = i.in_seq + m.added,
         wake_at = CASE WHEN m.added > 0 THEN 0 ELSE i.wake_at END,
         audit = CASE WHEN m.audit IS NULL THEN i.audit ELSE ${appendedAudit('i.audit', 'm.audit')} END
         ${claims ? `, ${claimAssignments('m.claim')}` : ''}
    FROM (
      SELECT instance_id, max(added) AS added, bool_or(overflows) AS overflows,
             coalesce(sum(bytes) FILTER (WHERE fits), 0) AS bytes,
             coalesce(array_agg(message_id ORDER BY position) FILTER (WHERE fits), '{}') AS ids,
             coalesce(array_agg(body ORDER BY position) FILTER (WHERE fits), '{}') AS bodies,
             array_agg(audit ORDER BY position) FILTER (WHERE audit IS NOT NULL) AS audit
             ${claims ? `, ${ONE_CLAIM}` : ''}
        FROM fresh GROUP BY instance_id
    ) AS m
   WHERE i.id = m.instance_id AND (m.added > 0 OR m.audit IS NOT NULL)
  RETURNING ${claims ? `i.*, ${isClaimed('m.claim', EPOCH_BEFORE)} AS claimed` : 'i.id, i.in_seq, i.epoch, i.owner, i.wake_at, i.under_way'}
)`;

const EPOCH_BEFORE = '(SELECT l.epoch FROM locked AS l WHERE l.id = i.id)';

const COMPLETED = `completed AS (
  UPDATE @activities AS a SET
         done = true, done_at = g.now, settled = locked.is_live IS NOT TRUE, deferred = false,
         succeeded = g.succeeded, result_hash = g.result_hash, result_data = g.result_data
    FROM item JOIN given AS g USING (position) LEFT JOIN locked ON locked.id = item.instance_id
   WHERE a.id = item.id
  RETURNING a.*, g.position, locked.is_live
)`;

/** The first message to an instance has claimed it. */
const resultOf = (claims: boolean) => `
SELECT completed.*, locked.rested, locked.in_seq + coalesce(fresh.added, 0) AS in_seq, fresh.fits IS FALSE AS overflowed,
       ${
         claims
           ? `coalesce(posted.epoch, locked.epoch) AS epoch, coalesce(posted.owner, locked.owner) AS owner,
       ${claimedColumns('posted', 'posted.claimed AND fresh.added = 1')}`
           : 'locked.epoch, locked.owner'
       }
  FROM completed LEFT JOIN fresh ON fresh.position = completed.position LEFT JOIN locked ON locked.id = completed.instance_id
       ${claims ? 'LEFT JOIN posted ON posted.id = completed.instance_id' : ''}`;

export function createCompletionGroup(database: Database): Groups['completions'] {
  return new GroupCommit<ActivityCompletion, Outcome>({
    keyOf: ({ activityId }) => activityId,
    sizeOf: ({ message, result }) => message.body.length + result.data.length,
    repeatLimits: database.repeatLimits,
    send: (completions) => completeAll(database, completions),
  });
}

export function completeActivity(
  { groups }: PostgresContext,
  [completion]: OperationArguments<'completeActivity'>,
): Promise<Outcome> {
  return groups.completions.submit(completion);
}

async function completeAll(
  database: Database,
  completions: readonly ActivityCompletion[],
): Promise<readonly Outcome[]> {
  const parameters = new Parameters();
  const placed = completions.map((completion, position) => [completion, position] as const);
  const claims = completions.some(({ claimer }) => claimer !== undefined);
  const columns = claims ? COMPLETIONS_WITH_CLAIM : COMPLETIONS;
  const given = `given AS MATERIALIZED (SELECT * FROM ${parameters.oneOrRows('g', placed, columns)})`;
  const parts = [
    given,
    LOCKED_INSTANCES,
    LOCKED_ITEMS,
    freshPart(claims),
    postedPart(claims),
    wakesOf('posted'),
    COMPLETED,
  ];
  const rows = await database.queryGroup(withParts(parts, resultOf(claims)), parameters.values);
  const outcomes = new Map<number, Outcome>();
  for (const row of rows) {
    const position = row.number('position');
    const [completion] = placed[position] ?? [];
    if (completion !== undefined) outcomes.set(position, acceptedOf(row, completion, claims));
  }
  const rejected = placed.filter(([, position]) => !outcomes.has(position));
  const known = await findKnown(database, rejected);
  return Promise.all(
    placed.map(async ([, position]) => {
      const outcome = outcomes.get(position);
      if (outcome === undefined) return { outcome: known.get(position) ?? 'stale' };
      const needs = outcome.outcome === 'accepted' ? outcome.activity.needs : undefined;
      return needs === undefined
        ? outcome
        : { ...outcome, waits: await runSteps(database, waitedAmong(needs)) };
    }),
  );
}

function acceptedOf(row: Row, { message }: ActivityCompletion, claims: boolean): Outcome {
  const activity = activityOf(row);
  const { instanceId } = activity;
  const posted =
    row.booleanOrNull('is_live') === true
      ? {
          instanceId,
          inSeq: row.number('in_seq'),
          epoch: row.number('epoch'),
          owner: row.textOrNull('owner'),
          rested: row.boolean('rested'),
          ...(claims && claimedIn(row)),
          ...(row.boolean('overflowed') && { overflowed: true as const }),
        }
      : null;
  return { outcome: 'accepted', activity, message, posted };
}

/** The positions of items whose result had already been accepted, or that were removed after they had been withdrawn. */
async function findKnown(
  database: Database,
  rejected: readonly Placed[],
): Promise<ReadonlyMap<number, 'repeated' | 'canceled'>> {
  if (rejected.length === 0) return new Map();
  const parameters = new Parameters();
  const rows = await database.query(
    `SELECT g.position, a.result_hash FROM ${parameters.rows('g', rejected, COMPLETIONS)} JOIN @activities AS a ON a.id = g.id
      WHERE a.token_hash = g.token_hash AND a.done
        AND (a.result_hash = g.result_hash OR (a.result_hash IS NULL AND a.settled))`,
    parameters.values,
  );
  return new Map(
    rows.map((row) => [
      row.number('position'),
      row.textOrNull('result_hash') === null ? 'canceled' : 'repeated',
    ]),
  );
}
