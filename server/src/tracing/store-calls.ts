/** Records the calls of the store inside the request or the run that makes them. */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Store } from '../store/store.js';
import type { FinishedStoreCall, StoreObserver } from '../store/observed-store.js';
import type { TraceContext } from './trace-context.js';
import type { FinishedSpan, TracedStoreCalls, Tracing } from './tracing.js';

const SYSTEMS: Readonly<Record<Store['kind'], string>> = {
  memory: 'memory',
  mongo: 'mongodb',
  postgres: 'postgresql',
  sqlite: 'sqlite',
};

interface Work {
  readonly context: TraceContext;
  /** Timers and other work that began here may go on. */
  isOver: boolean;
}

export class StoreCalls implements TracedStoreCalls {
  readonly #current = new AsyncLocalStorage<Work>();
  readonly #tracing: Pick<Tracing, 'begin' | 'record'>;

  constructor(tracing: Pick<Tracing, 'begin' | 'record'>) {
    this.#tracing = tracing;
  }

  within<Result>(context: TraceContext, run: (end: () => void) => Result): Result {
    const work: Work = { context, isOver: false };
    return this.#current.run(work, () => run(() => (work.isOver = true)));
  }

  observer(kind: Store['kind']): StoreObserver {
    return { after: (call) => this.#record(call, SYSTEMS[kind]) };
  }

  #record({ durationMs, error, name }: FinishedStoreCall, system: string): void {
    const work = this.#current.getStore();
    if (work?.context.sampled !== true || work.isOver) return;
    const endTime = Date.now();
    const failure = error instanceof Error ? { errorType: error.name } : {};
    this.#tracing.record({
      context: { ...this.#tracing.begin(work.context), sampled: true },
      parentSpanId: work.context.spanId,
      name: `store ${name}`,
      kind: 'client',
      startTime: endTime - durationMs,
      endTime,
      attributes: { 'db.system.name': system, 'db.operation.name': name },
      ...failure,
    } satisfies FinishedSpan);
  }
}
