/** What a worker tells about itself, for logs and metrics. */

/** The work that an event is about. */
export interface WorkSubject {
  readonly activityName: string;
  readonly workflowId: string;
  readonly stepId: string;
  readonly attempt: number;
}

export interface WorkerEvents {
  /** `run` began. */
  started: { readonly workerId: string };
  /** A poll ended: with work, without, or not as it should. */
  polled: {
    readonly activityName: string;
    readonly outcome: 'work' | 'empty' | 'failed';
    readonly tookMs: number;
  };
  /** The server does not answer as it should; it is asked again after a pause. */
  disconnected: { readonly error: unknown; readonly retryInMs: number };
  /** The server does not let this worker have work of a name; it is asked again after a pause. */
  refused: { readonly activityName: string; readonly error: unknown; readonly retryInMs: number };
  /** It answers again. */
  connected: { readonly afterMs: number };
  /** Work arrived and its handler begins. */
  received: WorkSubject;
  /** The result was accepted. */
  succeeded: WorkSubject & { readonly tookMs: number };
  /** The failure was accepted. */
  failed: WorkSubject & { readonly tookMs: number; readonly error: unknown };
  /** The result came too late: the work is another worker's, or nobody's. */
  dropped: WorkSubject & { readonly tookMs: number };
  /** The work was given back without a result, as the worker stops. */
  released: WorkSubject;
  /** The lease is lost while the handler runs; its signal fires. */
  leaseLost: WorkSubject;
  /** `stop` began. */
  stopping: { readonly running: number };
  /** Nothing is in hand any more. */
  stopped: WorkerStats;
}

/** Counts since the worker was made. */
export interface WorkerStats {
  /** Handlers that run now. */
  readonly running: number;
  /** Polls that wait now. */
  readonly polling: number;
  /** Polls that ended. */
  readonly polls: number;
  readonly received: number;
  readonly succeeded: number;
  readonly failed: number;
  /** Results that came too late. */
  readonly dropped: number;
  readonly released: number;
}

type Listener<Payload> = (payload: Payload) => void;

/** Calls listeners; one that throws disturbs neither the worker nor the others. */
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
        // `on` puts under a name only listeners of that name's payload.
        (listener as Listener<WorkerEvents[Name]>)(payload);
      } catch (error) {
        this.#onListenerError(error);
      }
    }
  }
}
