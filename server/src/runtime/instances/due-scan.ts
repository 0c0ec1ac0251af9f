/**
 * Scans the instances that become due before the next scan, in pages. It handles instances that are due now, and sets timers
 * for the others. Instances due later cost no memory.
 */
import type { DueInstance } from '../../store/records/instances.js';
import type { Store } from '../../store/store.js';
import type { Clock } from '../../base/clock.js';

const PAGE = 500;
/**
 * Maximum number of consecutive pages without work for this node; after them, the scan stops, and the next one continues.
 */
const IDLE_PAGES_MAX = 20;
/** How late a scan may run. */
const MARGIN_MS = 1000;

export interface DueScanOptions {
  readonly store: Pick<Store, 'findDueInstances'>;
  readonly clock: Clock;
  readonly intervalMs: () => number;
  readonly isStopping: () => boolean;
  /** True if this node must handle the instance, now or when it becomes due. */
  readonly concerns: (instance: DueInstance, now: number) => boolean;
  /** Resolves when the scan may continue with the next instance. */
  readonly check: (instance: DueInstance) => Promise<void>;
  /** Called when a timer fires. Earlier knowledge of the instance may be stale. */
  readonly recheck: (instanceId: string) => void;
}

export class DueScan {
  readonly #options: DueScanOptions;
  readonly #timers = new Map<string, () => void>();
  /** Where the last scan stopped early. */
  #from: { readonly wakeAt: number; readonly id: string } | undefined;

  constructor(options: DueScanOptions) {
    this.#options = options;
  }

  async run(): Promise<void> {
    const { clock, intervalMs, isStopping, store } = this.#options;
    let idlePages = 0;
    for (;;) {
      const now = clock.now();
      const page = await store.findDueInstances(now + this.#aheadMs(intervalMs), PAGE, this.#from);
      const isIdle = !(await this.#serve(page, now));
      idlePages = isIdle ? idlePages + 1 : 0;
      const last = page.length < PAGE ? undefined : page.at(-1);
      this.#from = last === undefined ? undefined : { wakeAt: last.wakeAt, id: last.id };
      if (last === undefined || isStopping() || idlePages >= IDLE_PAGES_MAX) return;
    }
  }

  /** Sets a timer for an instance that was evicted and is due at `dueAt`. */
  setTimer(id: string, dueAt: number): void {
    const { clock, intervalMs, isStopping, recheck } = this.#options;
    this.cancel(id);
    // A scan finds instances that are due later.
    if (dueAt > clock.now() + this.#aheadMs(intervalMs) || isStopping()) return;
    const cancel = clock.at(dueAt, () => {
      this.#timers.delete(id);
      recheck(id);
    });
    this.#timers.set(id, cancel);
  }

  cancel(id: string): void {
    this.#timers.get(id)?.();
    this.#timers.delete(id);
  }

  stop(): void {
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
  }

  #aheadMs(intervalMs: () => number): number {
    return intervalMs() + MARGIN_MS;
  }

  async #serve(page: readonly DueInstance[], now: number): Promise<boolean> {
    const { concerns, isStopping, check } = this.#options;
    let hasWork = false;
    for (const instance of page) {
      if (isStopping()) return false;
      if (!concerns(instance, now)) continue;
      hasWork = true;
      if (instance.wakeAt <= now) await check(instance);
      else if (!this.#timers.has(instance.id)) this.setTimer(instance.id, instance.wakeAt);
    }
    return hasWork;
  }
}
