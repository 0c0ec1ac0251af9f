/** The events and counters of a worker, for logs and metrics. */

/** The work item that an event is about. */
export interface WorkSubject {
  readonly activityName: string;
  readonly workflowId: string;
  readonly stepId: string;
  readonly attempt: number;
}

export interface WorkerEvents {
  /** `run` was called. */
  started: { readonly workerId: string };
  /** A poll ended: with work, without work, or with an error. */
  polled: {
    readonly activityName: string;
    readonly outcome: 'work' | 'empty' | 'failed';
    readonly tookMs: number;
  };
  /** The server is unavailable. The worker polls again after a pause. */
  disconnected: { readonly error: unknown; readonly retryInMs: number };
  /** The server rejects polls for an activity. The worker polls for it again after a pause. */
  refused: { readonly activityName: string; readonly error: unknown; readonly retryInMs: number };
  /** The server is available again. */
  connected: { readonly afterMs: number };
  /** A work item arrived, and its handler starts. */
  received: WorkSubject;
  /** The server accepted the result. */
  succeeded: WorkSubject & { readonly tookMs: number };
  /** The server accepted the failure. */
  failed: WorkSubject & { readonly tookMs: number; readonly error: unknown };
  /**
   * The result came too late: another worker has claimed the work, or it is no longer needed (`late`), or its run was undone
   * without it (`cancelled`).
   */
  dropped: WorkSubject & { readonly tookMs: number; readonly reason: 'late' | 'cancelled' };
  /** The work was released without a result, because the worker is stopping, or the handler gave up after `cancelled`. */
  released: WorkSubject;
  /** The lease was lost while the handler was running. Its signal is aborted. */
  leaseLost: WorkSubject;
  /** The run is being undone while the handler is running. Its signal is aborted, and its result is still reported. */
  // The spelling is the public API's.
  cancelled: WorkSubject;
  /** `stop` was called. */
  stopping: { readonly running: number };
  /** The worker has stopped and holds no work. */
  stopped: WorkerStats;
}

/** Counters since the worker was created. */
export interface WorkerStats {
  /** Handlers that are running now. */
  readonly running: number;
  /** Polls that are open now. */
  readonly polling: number;
  /** Polls that have ended. */
  readonly polls: number;
  readonly received: number;
  readonly succeeded: number;
  readonly failed: number;
  /** Results that came too late. */
  readonly dropped: number;
  readonly released: number;
}

type Listener<Payload> = (payload: Payload) => void;

/** Calls listeners. An error in one of them affects neither the worker nor the other listeners. */
export class EventHub {
  readonly #listeners = new Map<keyof WorkerEvents, Set<Listener<never>>>();
  readonly #onListenerError: (error: unknown) => void;

  constructor(onListenerError: (error: unknown) => void) {
    this.#onListenerError = onListenerError;
  }

  on<Name extends keyof WorkerEvents>(
    name: Name,
    listener: Listener<WorkerEvents[Name]>,
  ): () => void {
    const listeners = this.#listeners.get(name) ?? new Set();
    listeners.add(listener);
    this.#listeners.set(name, listeners);
    return () => void listeners.delete(listener);
  }

  emit<Name extends keyof WorkerEvents>(name: Name, payload: WorkerEvents[Name]): void {
    for (const listener of this.#listeners.get(name) ?? []) {
      try {
        // `on` stores only listeners for the payload of this name.
        (listener as Listener<WorkerEvents[Name]>)(payload);
      } catch (error) {
        this.#onListenerError(error);
      }
    }
  }
}
