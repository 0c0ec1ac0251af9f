/**
 * Commits: compare-and-set on `{id, epoch, inSeq, revision}`. Those that arrive at the same moment share one statement.
 */
import { GroupCommit } from '../group-commit.js';
import type { OperationArguments } from '../operations.js';
import type { CommitOutcome, InstanceCommit } from '../records/instances.js';
import { encodeTextWithoutNul } from '../text-codec.js';
import type { Database } from './database.js';
import { wakesOf } from './instance-rows.js';
import { type Columns, inLockOrder, Parameters, withParts } from './parameters.js';
import type { Groups, PostgresContext } from './postgres-context.js';
import { insertSideParts, removeSideParts } from './side-records.js';

const COLUMNS: Columns<InstanceCommit> = {
  id: ['text', ({ id }) => encodeTextWithoutNul(id)],
  epoch: ['bigint', ({ epoch }) => epoch],
  in_seq: ['bigint', ({ inSeq }) => inSeq],
  revision: ['bigint', ({ revision }) => revision],
  status: ['text', ({ status }) => status],
  end_time: ['bigint', ({ endTime }) => endTime],
  outcome: ['text', ({ outcome }) => outcome],
  last_change_at: ['bigint', ({ lastChangeAt }) => lastChangeAt],
  error_at: ['bigint', ({ errorAt }) => errorAt],
  wake_at: ['bigint', ({ wakeAt }) => wakeAt],
  under_way: ['boolean', ({ underWay }) => underWay],
  crashes: ['bigint', ({ crashes }) => crashes ?? 0],
  schema_version: ['bigint', ({ schemaVersion }) => schemaVersion],
  keep_inbox: ['boolean', ({ keepInbox }) => keepInbox === true],
  state: ['text', ({ state }) => encodeTextWithoutNul(state)],
};

export function createCommitGroup(database: Database): Groups['commits'] {
  return new GroupCommit({
    keyOf: ({ id }) => id,
    sizeOf: ({ side, state }) =>
      state.length + (side.activities.length + side.history.length) * 1000,
    send: (commits) => commitAll(database, commits),
  });
}

export function commitInstance(
  { groups }: PostgresContext,
  [commit]: OperationArguments<'commitInstance'>,
): Promise<CommitOutcome> {
  return groups.commits.submit(commit);
}

async function commitAll(
  database: Database,
  commits: readonly InstanceCommit[],
): Promise<readonly CommitOutcome[]> {
  const parameters = new Parameters();
  const rows = parameters.rows('w', inLockOrder(commits), COLUMNS);
  const someWake = commits.some(({ underWay, wakeAt }) => wakeAt !== null || underWay);
  const someDoNot = commits.some(({ underWay, wakeAt }) => wakeAt === null && !underWay);
  const text = withParts(
    [
      `changed AS (
  UPDATE @instances AS i SET
    status = w.status, end_time = w.end_time, outcome = w.outcome, last_change_at = w.last_change_at,
    error_at = w.error_at, wake_at = w.wake_at, under_way = w.under_way, crashes = w.crashes,
    schema_version = w.schema_version, state = w.state, revision = i.revision + 1,
    inbox_ids = CASE WHEN w.keep_inbox THEN i.inbox_ids ELSE '{}' END,
    inbox_bodies = CASE WHEN w.keep_inbox THEN i.inbox_bodies ELSE '{}' END,
    inbox_bytes = CASE WHEN w.keep_inbox THEN i.inbox_bytes ELSE 0 END
  FROM ${rows}
  WHERE i.id = w.id AND i.epoch = w.epoch AND i.in_seq = w.in_seq AND i.revision = w.revision
  RETURNING i.id, i.owner, i.wake_at, i.under_way, i.status
)`,
      someWake ? wakesOf('changed') : null,
      someDoNot
        ? `asleep AS (
  DELETE FROM @wakes WHERE id IN (SELECT id FROM changed WHERE wake_at IS NULL AND NOT under_way)
)`
        : null,
      ...insertSideParts(parameters, 'changed', commits.map(lastingSideOf)),
      ...removeSideParts(parameters, 'changed', commits),
    ],
    'SELECT id FROM changed',
  );
  const changed = await database.query(text, parameters.values);
  const ids = new Set(changed.map((row) => row.text('id')));
  return commits.map(({ id }) => (ids.has(id) ? 'committed' : 'lost'));
}

/** Without the records that the same commit removes: the parts of one statement do not see each other's writes. */
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
