/** Waits for a condition, with a deadline. */
import { setTimeout } from 'node:timers/promises';

const PAUSE_MS = 50;

/** Repeats the function until it returns neither undefined nor false. @throws Error when the deadline passes */
export async function eventually<Value>(
  what: string,
  read: () => Promise<Value | undefined | false> | Value | undefined | false,
  limitMs = 150_000,
): Promise<Value> {
  let problem: unknown;
  for (const deadline = Date.now() + limitMs; Date.now() < deadline;) {
    try {
      const value = await read();
      if (value !== undefined && value !== false) return value;
    } catch (error) {
      problem = error;
    }
    await setTimeout(PAUSE_MS);
  }
  throw new Error(`not within ${limitMs} ms: ${what}`, { cause: problem });
}
