/** The load of this process: read once with each heartbeat, at no cost in between. */
import type { NodeLoad } from './node-details.js';

export class LoadMeter {
  #cpu = process.cpuUsage();
  #readAt = performance.now();
  #eventLoopDelayMs = 0;

  /** Values that exist only for the whole process. */
  read(): Pick<NodeLoad, 'memoryBytes' | 'cpuPercent' | 'eventLoopDelayMs'> {
    const now = performance.now();
    const { system, user } = process.cpuUsage(this.#cpu);
    const elapsedMs = now - this.#readAt;
    this.#cpu = process.cpuUsage();
    this.#readAt = now;
    // All ready work runs first, so its delay, reported with the next heartbeat, shows the length of the queue.
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
