/** Removes what is kept only for a time. The stores remove instances in different ways. */
import type { PurgeRequest } from '../records/housekeeping.js';
import { removeSome, type SqlSteps } from './statements.js';

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
