/**
 * Tests whether compare-and-set is really atomic here. With some servers that speak PostgreSQL's protocol, and some
 * poolers that spread statements over replicas, it only seems to be, and several nodes would believe that they own the
 * same instance.
 */
import { randomUUID } from 'node:crypto';
import type { PostgresContext } from './postgres-context.js';

const ROUNDS = 3;
const WRITERS = 8;

export async function probeAtomicity({ database }: PostgresContext): Promise<boolean> {
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
