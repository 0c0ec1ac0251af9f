/** Long work on the event loop, cut into turns so that others are served meanwhile. */

const TURN_MS = 20;

export class Turns {
  private since = performance.now();

  /** Called between two parts of the work; waits until others had their turn when this one was long enough. */
  async giveWay(): Promise<void> {
    if (performance.now() - this.since < TURN_MS) return;
    await new Promise((resolve) => setImmediate(resolve));
    this.since = performance.now();
  }
}
