/**
 * Tests whether compare-and-set is really atomic on this server. Some servers that speak MongoDB's protocol read,
 * change and write back without checking again, so that several nodes would believe that they own the same instance.
 */
import { randomUUID } from 'node:crypto';
import type { MongoContext } from './mongo-context.js';

const ROUNDS = 3;
const WRITERS = 8;

export async function probeAtomicity({ probes }: MongoContext): Promise<boolean> {
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
