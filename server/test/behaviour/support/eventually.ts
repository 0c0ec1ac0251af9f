/** Waiting for something that the server cannot announce: asked again and again, until a deadline. */
const PAUSE_MS = 20;
const DEADLINE_MS = 20_000;

/** The value of the first look that is done. @throws Error that shows the last look when the time is over */
export async function eventually<Value>(
  look: () => Promise<{ readonly done: boolean; readonly value: Value }>,
): Promise<Value> {
  const deadline = Date.now() + DEADLINE_MS;
  for (;;) {
    const { done, value } = await look();
    if (done) return value;
    if (Date.now() > deadline)
      throw new Error(`never came to pass; last seen: ${JSON.stringify(value)}`);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}
