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
import type { MongoContext } from './mongo-context.js';
import * as notifications from './notifications.js';
import * as places from './places.js';
import * as resources from './resources.js';
import * as slots from './slots.js';
import * as starts from './starts.js';
import * as textSearch from './text-search.js';
import * as triggers from './triggers.js';

export const MONGO_OPERATIONS: AsynchronousOperations<MongoContext> = {
  ping: async ({ nodes }) => {
    await nodes.findOne({}, { projection: { _id: 1 } });
  },
  probeAtomicity,
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
  ...resources,
  ...places,
  ...slots,
  ...starts,
  ...textSearch,
  ...triggers,
};

const ROUNDS = 3;
const WRITERS = 8;

/**
 * Tests whether compare-and-set is really atomic on this server. Some servers that speak MongoDB's protocol read,
 * change and write back without checking again, so that several nodes would believe that they own the same instance.
 */
async function probeAtomicity({ probes }: MongoContext): Promise<boolean> {
  const _id = randomUUID();
  await probes.insertOne({ _id, round: 0, wins: 0 });
  try {
    for (let round = 0; round < ROUNDS; round += 1) {
      const results = await Promise.all(
        Array.from({ length: WRITERS }, () =>
          probes.updateOne({ _id, round }, { $set: { round: round + 1 }, $inc: { wins: 1 } }),
        ),
      );
      const winners = results.reduce((sum, { modifiedCount }) => sum + modifiedCount, 0);
      if (winners !== 1) return false;
    }
    return (await probes.findOne({ _id }))?.wins === ROUNDS;
  } finally {
    await probes.deleteOne({ _id });
  }
}
