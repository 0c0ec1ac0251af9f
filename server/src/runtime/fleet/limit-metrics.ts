/** Metrics of limits: what is held, what waits, and for how long steps have waited. By limit, not by key: keys come from data. */
import { Gauge, Histogram, type Registry } from 'prom-client';
import type { LimitUse } from '../../store/records/slots.js';
import { KnownLabels } from './known-labels.js';

export interface NamedLimitUse extends Pick<LimitUse, 'held' | 'waiting'> {
  readonly name: string;
}

export class LimitMetrics {
  readonly #labels = new KnownLabels();
  readonly #held: Gauge;
  readonly #waiting: Gauge;
  readonly #waits: Histogram;

  constructor(registry: Registry) {
    const registers = [registry];
    const labelNames = ['limit'];
    this.#held = new Gauge({
      name: 'stepwright_limit_held',
      help: 'Units of a limit that steps hold, by limit (empty: all others).',
      labelNames,
      registers,
    });
    this.#waiting = new Gauge({
      name: 'stepwright_limit_waiting',
      help: 'Steps that wait only for a slot of a limit, by limit (empty: all others).',
      labelNames,
      registers,
    });
    this.#waits = new Histogram({
      name: 'stepwright_limit_wait_seconds',
      help: 'Time that steps waited for a slot on this node, by limit (empty: all others). Without work items.',
      labelNames,
      buckets: [0.01, 0.1, 1, 10, 60, 600, 3600],
      registers,
    });
  }

  show(uses: readonly NamedLimitUse[]): void {
    this.#held.reset();
    this.#waiting.reset();
    for (const { held, name, waiting } of uses) {
      const limit = this.#labels.of(name);
      this.#held.inc({ limit }, held);
      this.#waiting.inc({ limit }, waiting);
    }
  }

  waited(name: string, waitedMs: number): void {
    this.#waits.observe({ limit: this.#labels.of(name) }, waitedMs / 1000);
  }
}
