/** How busy this process is: read once with each heartbeat, with nothing running in between. */
import type { NodeLoad } from './node-details.js';

export class LoadMeter {
  #cpu = process.cpuUsage();
  #readAt = performance.now();
  #eventLoopDelayMs = 0;

  /** What can only be told of the whole process. */
  read(): Pick<NodeLoad, 'memoryBytes' | 'cpuPercent' | 'eventLoopDelayMs'> {
    const now = performance.now();
    const { system, user } = process.cpuUsage(this.#cpu);
    const elapsedMs = now - this.#readAt;
    this.#cpu = process.cpuUsage();
    this.#readAt = now;
    // Everything that is ready comes before it, so that it shows with the next beat how long the line is.
    setImmediate(() => {
      this.#eventLoopDelayMs = performance.now() - now;
    });
    return {
      memoryBytes: process.memoryUsage.rss(),
      cpuPercent: elapsedMs === 0 ? 0 : Math.round((user + system) / 10 / elapsedMs),
      eventLoopDelayMs: Math.round(this.#eventLoopDelayMs),
    };
  }
}
