/** What `new Worker` takes. */
import type { ActivityDeclarations, ClientOptions, StepwrightClient } from '@stepwright/sdk';
import type { DeclaredHandlers, UndeclaredHandlers } from './activity-handlers.js';
import type { WorkerLog } from './log.js';

/** What every worker may be told. */
export interface WorkerSettings {
  /**
   * Who asks, for the server's log.
   *
   * @default a random name
   */
  readonly workerId?: string;
  /**
   * How many handlers run at a time.
   *
   * @default 10
   */
  readonly concurrency?: number;
  /**
   * How long the server waits for a sign of life of this worker before it gives the work to another one. Heartbeats are
   * sent three times as often.
   *
   * @default 30
   */
  readonly leaseSeconds?: number;
  /**
   * How long a poll waits for work.
   *
   * @default 20
   */
  readonly pollSeconds?: number;
  /**
   * Where the worker and `context.log` write.
   *
   * @default the console, without debug messages
   */
  readonly log?: WorkerLog;
}

/** Where the server is, for a worker that makes its own client. */
export type ServerAddress = Pick<ClientOptions, 'baseUrl' | 'token' | 'fetch' | 'integers'> & {
  readonly client?: never;
};

/** Of a worker whose handlers say themselves what their parameters are. */
export type WorkerOptions<P> = WorkerSettings &
  (
    | ServerAddress
    // A client with declared activities has handlers of those types.
    | { readonly client: StepwrightClient & { readonly declaredActivities: undefined } }
  ) & {
    readonly declaredActivities?: never;
    readonly activities: UndeclaredHandlers<P>;
  };

/** Of a worker whose activities were declared, with `defineActivities`, for its client or for itself. */
export type DeclaredWorkerOptions<D extends ActivityDeclarations> = WorkerSettings &
  (
    | { readonly client: StepwrightClient<D>; readonly declaredActivities?: D }
    | (ServerAddress & { readonly declaredActivities: D })
  ) & { readonly activities: DeclaredHandlers<D> };

/** Both, as the worker sees them. */
export type AnyWorkerOptions = WorkerSettings & {
  readonly declaredActivities?: ActivityDeclarations | undefined;
  readonly activities: Readonly<Record<string, unknown>>;
} & (ServerAddress | { readonly client: StepwrightClient });

/** How a worker stops. */
export interface StopOptions {
  /**
   * How long handlers that run may take to end.
   *
   * @default 10000
   */
  readonly graceMs?: number;
}
