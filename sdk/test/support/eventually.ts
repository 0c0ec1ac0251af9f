/** Polls for a condition that is not announced, until a deadline. */
import { setTimeout } from 'node:timers/promises';

const PAUSE_MS = 20;

/**
 * Repeats a call until its result is not undefined, null or false. An error counts as "not yet".
 *
 * @param what describes the condition; a function can add the last result
 * @throws Error with `what` after the timeout
 */
export async function eventually<Value>(
  what: string | (() => string),
  ask: () => Value | Promise<Value>,
  timeoutMs = 40_000,
): Promise<NonNullable<Exclude<Value, false>>> {
  const deadline = performance.now() + timeoutMs;
  let problem: unknown;
  while (performance.now() < deadline) {
    try {
      const answer = await ask();
      if (answer !== undefined && answer !== null && answer !== false) {
        return answer as NonNullable<Exclude<Value, false>>;
      }
    } catch (error) {
      problem = error;
    }
    await setTimeout(PAUSE_MS);
  }
  const missed = typeof what === 'string' ? what : what();
  throw new Error(`not within ${timeoutMs} ms: ${missed}`, { cause: problem });
}
