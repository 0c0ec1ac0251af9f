/** Waits for conditions that the server does not announce: checks repeatedly, until a deadline. */
const PAUSE_MS = 20;
const DEADLINE_MS = 20_000;

/** The value of the first check that is done. @throws Error with the last value when the deadline passes */
export async function eventually<Value>(
  look: () => Promise<{ readonly done: boolean; readonly value: Value }>,
): Promise<Value> {
  const deadline = Date.now() + DEADLINE_MS;
  for (;;) {
    const { done, value } = await look();
    if (done) return value;
    if (Date.now() > deadline)
      throw new Error(`the condition was never met; last value: ${JSON.stringify(value)}`);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}
