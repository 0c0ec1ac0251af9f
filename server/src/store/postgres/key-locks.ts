/**
 * One of several different starts with the same key takes effect: an insert of an instance, or a start that joins another
 * instance. Their rows are in two tables, so that no unique index excludes both.
 *
 * An insert holds a shared advisory lock on its id until it is committed, a start that joins an exclusive one. Each looks for the
 * other when it has the lock. An insert does so in the function `is_joined`: being volatile, it sees every commit
 * before its call; the statement that calls it sees only commits before that statement began.
 *
 * There are few locks, because inserts of many instances at once take many of them. Ids that share one only wait for each other.
 * Only a start that joins takes a lock of references before, so there is no deadlock.
 */

import { createHash } from 'node:crypto';
import { encodeTextWithoutNul } from '../text-codec.js';
import type { Statements } from './database.js';

/** Distinguishes these locks from others in the database. All versions of the server use the same one. */
const LOCK_CLASS = 1_398_231_883;
/** A power of two. */
const LOCKS = 64;

/** More keys are an array, which is taken in its order, too. */
const KEYS_IN_TEXT_MAX = 20;

/** Takes the exclusive lock of a start that joins. */
function joinLockOf(id: string): string {
  return `pg_advisory_xact_lock(${LOCK_CLASS}, hashtext(${id}) & ${LOCKS - 1})`;
}

/** A condition that takes the shared lock of an insert, and says whether no start with its id has joined an instance. */
export function unlessJoined(id: string): string {
  return `CASE WHEN pg_advisory_xact_lock_shared(${LOCK_CLASS}, hashtext(${id}) & ${LOCKS - 1}) IS NULL THEN false ELSE NOT @is_joined(${id}) END`;
}

/** The number of the lock of a key. */
export function lockOf(key: string): bigint {
  return createHash('sha256').update(key).digest().readBigInt64BE();
}

/**
 * Takes the locks of these keys, and then that of a start that joins, in one statement. Different keys may share a lock by chance, and
 * then only wait for each other. Everyone takes them in the same order.
 * @param joiningId the id of the start; null: it doesn't join
 */
export async function lockKeys(
  statements: Statements,
  keys: readonly string[],
  joiningId: string | null = null,
): Promise<void> {
  const locks = [...new Set(keys.map(lockOf))];
  locks.sort((left, right) => (left < right ? -1 : 1));
  if (locks.length > KEYS_IN_TEXT_MAX) {
    const text = 'SELECT pg_advisory_xact_lock(key) FROM unnest($1::bigint[]) AS key';
    await statements.query(text, [locks.splice(0).map(String)]);
  }
  if (locks.length === 0 && joiningId === null) return;
  const calls = locks.map((_, index) => `pg_advisory_xact_lock($${index + 1}::bigint)`);
  const values = locks.map(String);
  if (joiningId !== null) {
    calls.push(joinLockOf(`$${values.push(encodeTextWithoutNul(joiningId))}`));
  }
  await statements.query(`SELECT ${calls.join(', ')}`, values);
}
