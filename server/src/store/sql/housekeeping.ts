/** Nodes, and removal of expired records. The stores remove instances in different ways. */
import type { EndedInstance, PurgeRequest } from '../records/housekeeping.js';
import type { NodeRecord } from '../records/nodes.js';
import { columnsOf, readRecord, type RecordColumns } from './columns.js';
import { removeSome, type SqlSteps, change, select, type SqlOperations } from './statements.js';
import type { StoredRow } from './stored-row.js';

interface PurgedRows {
  readonly events: number;
  readonly activities: number;
  readonly joined: number;
}

/** Several nodes may purge at the same time. Each skips the rows that another one is removing. */
export function* purgeRows({
  activitiesDoneBefore,
  eventsPublishedBefore,
  instancesEndedBefore,
  limit,
}: PurgeRequest): SqlSteps<PurgedRows> {
  return {
    events: yield* removeSome(
      'events',
      'WHERE deliveredTo IS NOT NULL AND publishedAt < ? ORDER BY publishedAt, id LIMIT ?',
      eventsPublishedBefore,
      limit,
    ),
    activities: yield* removeSome(
      'activities',
      'WHERE settled = TRUE AND doneAt < ? ORDER BY doneAt, id LIMIT ?',
      activitiesDoneBefore,
      limit,
    ),
    joined: yield* removeSome(
      'joined_starts',
      'WHERE joinedAt < ? ORDER BY joinedAt LIMIT ?',
      instancesEndedBefore,
      limit,
    ),
  };
}

const RECORD: RecordColumns<NodeRecord> = {
  id: 'text',
  beatAt: 'number',
  url: 'text',
  version: 'text',
  hostname: 'text',
  pid: 'number',
  details: 'text?',
};

export const NODE_COLUMNS = columnsOf(RECORD);

const REPLACED = Object.keys(RECORD).filter((name) => name !== 'id');
/** The ending of an insert. */
export const REPLACE_NODE = `ON CONFLICT (id) DO UPDATE SET ${REPLACED.map((name) => `${name} = excluded.${name}`).join(', ')}`;

const ENDED: RecordColumns<EndedInstance> = { id: 'text', inSeq: 'number', revision: 'number' };

export const HOUSEKEEPING_OPERATIONS = {
  *listNodes() {
    return (yield* select('SELECT * FROM @nodes ORDER BY id')).map(nodeOf);
  },

  *findExpiredInstances([limits, limit]) {
    const { ownRetentionBefore = 0, untoldOwnRetentionBefore = 0 } = limits;
    const rows = yield* select(
      `SELECT * FROM (
         SELECT id, inSeq, revision FROM @instances INDEXED BY instances_expiring
          WHERE endTime < ?::bigint AND endTime IS NOT NULL AND retentionMs IS NULL
            AND status IN ('Complete', 'Terminated') AND (wakeAt IS NULL OR endTime < ?::bigint)
          ORDER BY endTime, id LIMIT ?::bigint
       ) AS expiring
       UNION ALL
       SELECT * FROM (
         SELECT id, inSeq, revision FROM @instances INDEXED BY instances_own_retention
          WHERE endTime + retentionMs < ?::bigint AND retentionMs IS NOT NULL AND endTime IS NOT NULL
            AND status IN ('Complete', 'Terminated') AND (wakeAt IS NULL OR endTime + retentionMs < ?::bigint)
          ORDER BY endTime + retentionMs, id LIMIT ?::bigint
       ) AS ofOwnRetention`,
      limits.instancesEndedBefore,
      limits.untoldEndedBefore,
      limit,
      ownRetentionBefore,
      untoldOwnRetentionBefore,
      limit,
    );
    return rows.map((row) => readRecord(row, ENDED));
  },

  *removeNode([id]) {
    yield* change('DELETE FROM @nodes WHERE id = ?', id);
  },
} satisfies SqlOperations;

export function nodeOf(row: StoredRow): NodeRecord {
  return readRecord(row, RECORD);
}
