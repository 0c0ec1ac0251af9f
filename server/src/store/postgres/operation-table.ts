/** Every operation of the contract, on one database. */
import { randomUUID } from 'node:crypto';
import type { AsynchronousOperations } from '../store-operations.js';
import * as activities from './activities.js';
import * as activityQueue from './activity-queue.js';
import * as bulkJobs from './bulk-jobs.js';
import * as control from './control.js';
import * as definitions from './definitions.js';
import * as events from './events.js';
import * as failures from './failures.js';
import * as housekeeping from './housekeeping.js';
import * as instanceLists from './instance-lists.js';
import * as instances from './instances.js';
import * as messages from './messages.js';
import * as notifications from './notifications.js';
import type { PostgresContext } from './postgres-context.js';
import * as places from './places.js';
import * as resources from './resources.js';
import { sharedOperations } from './shared-operations.js';
import * as slots from './slots.js';
import * as starts from './starts.js';
import * as textSearch from './text-search.js';

export const POSTGRES_OPERATIONS: AsynchronousOperations<PostgresContext> = {
  ping: async ({ database }) => {
    await database.query('SELECT 1');
  },
  probeAtomicity,
  ...sharedOperations(),
  ...activities,
  ...activityQueue,
  ...bulkJobs,
  ...control,
  ...definitions,
  ...events,
  ...failures,
  ...housekeeping,
  ...instanceLists,
  ...instances,
  ...messages,
  ...notifications,
  ...places,
  ...resources,
  ...slots,
  ...starts,
  ...textSearch,
};

const ROUNDS = 3;
const WRITERS = 8;

/**
 * Tests whether compare-and-set is really atomic here. With some servers that speak PostgreSQL's protocol, and some
 * poolers that spread statements over replicas, it only seems to be, and several nodes would believe that they own the
 * same instance.
 */
async function probeAtomicity({ database }: PostgresContext): Promise<boolean> {
  const id = randomUUID();
  await database.execute('INSERT INTO @probes (id, round, wins) VALUES ($1, 0, 0)', [id]);
  try {
    for (let round = 0; round < ROUNDS; round += 1) {
      const text =
        'UPDATE @probes SET round = round + 1, wins = wins + 1 WHERE id = $1 AND round = $2';
      const changes = await Promise.all(
        Array.from({ length: WRITERS }, () => database.execute(text, [id, round])),
      );
      if (changes.reduce((sum, count) => sum + count, 0) !== 1) return false;
    }
    const [probe] = await database.query('SELECT wins FROM @probes WHERE id = $1', [id]);
    return probe?.number('wins') === ROUNDS;
  } finally {
    await database.execute('DELETE FROM @probes WHERE id = $1', [id]);
  }
}
