import { setTimeout as delay } from 'node:timers/promises';

/** Repeats a call until its result is not undefined, null or false. Fails if that takes too long. */
export async function eventually<Value>(
  what: string,
  ask: () => Value | Promise<Value>,
  timeoutMs = 20_000,
): Promise<NonNullable<Exclude<Value, false>>> {
  const deadline = performance.now() + timeoutMs;
  while (performance.now() < deadline) {
    const answer = await ask();
    if (answer !== undefined && answer !== null && answer !== false) {
      return answer as NonNullable<Exclude<Value, false>>;
    }
    await delay(10);
  }
  throw new Error(`did not come about within ${timeoutMs} ms: ${what}`);
}
