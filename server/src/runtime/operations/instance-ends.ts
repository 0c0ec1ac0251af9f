/** Lets clients wait for the end of an instance. */
import type { Clock } from '../../base/clock.js';
import { CanceledError } from '../../base/slices.js';
import type { EndWait, EndWaiters } from '../instances/end-waiters.js';
import type { InstanceRunner } from '../instances/instance-runner.js';
import type { RequestGate } from './request-gate.js';
import type { InstanceQueries } from './instance-queries.js';
import type { InstanceView, StartWait } from '../model/instance-types.js';

/** An instance on another node may end without a hint; waiting callers check again after this time. */
const END_RECHECK_MS = 2000;

export interface InstanceEndsOptions {
  readonly clock: Clock;
  readonly gate: RequestGate;
  readonly queries: Pick<InstanceQueries, 'get' | 'getEnded'>;
  readonly runner: Pick<InstanceRunner, 'isRunning'>;
  readonly endWaiters: EndWaiters;
  /** True while other nodes share the store. */
  readonly isShared: () => boolean;
}

export class InstanceEnds {
  readonly #options: InstanceEndsOptions;

  constructor(options: InstanceEndsOptions) {
    this.#options = options;
  }

  /** Begins to wait for the end of an instance that is about to be started; see `wait`. */
  begin(id: string, { signal, timeoutMs }: StartWait): EndWait {
    const { clock, endWaiters, isShared } = this.#options;
    const wakeAt = clock.now() + (isShared() ? Math.min(timeoutMs, END_RECHECK_MS) : timeoutMs);
    return endWaiters.wait(id, (wake) => clock.at(wakeAt, wake), signal);
  }

  /**
   * Resolves when the instance has ended or the time is up.
   * @param begun a wait that began before the instance was started: its first end needs no read
   * @throws AppError `workflow_not_found`; CanceledError when the signal fires
   */
  async wait(
    id: string,
    timeoutMs: number,
    signal: AbortSignal,
    begun: EndWait | null = null,
  ): Promise<InstanceView> {
    const { clock, endWaiters, gate, isShared, runner } = this.#options;
    const deadline = clock.now() + timeoutMs;
    const known = begun === null ? null : await begun.over;
    if (known !== null) return known;
    for (;;) {
      if (signal.aborted) throw new CanceledError();
      const isLocal = !isShared();
      const recent = isLocal && gate.state === 'open' ? endWaiters.recent(id) : null;
      if (recent !== null) return recent;
      // The wait begins before the read, so that an end between the two is not missed.
      const wakeAt = isLocal ? deadline : Math.min(deadline, clock.now() + END_RECHECK_MS);
      const wait = endWaiters.wait(id, (wake) => clock.at(wakeAt, wake), signal);
      try {
        const isOver = clock.now() >= deadline || gate.state !== 'open';
        // An instance that is running on the only node has not ended, and will end here: no read is needed.
        const isKnown = !isOver && isLocal && runner.isRunning(id);
        const view = isKnown ? null : await gate.pass(() => this.#view(id, isOver));
        if (view !== null) return view;
        const end = await wait.over;
        if (end !== null) return end;
      } finally {
        wait.cancel();
      }
    }
  }

  /** The instance if it has ended, or in any state with `asItIs`; otherwise null. */
  #view(id: string, asItIs: boolean): Promise<InstanceView | null> {
    const { queries } = this.#options;
    return asItIs ? queries.get(id) : queries.getEnded(id);
  }
}
