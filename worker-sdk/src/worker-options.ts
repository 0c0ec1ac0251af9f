/** The options of `new Worker`. */
import type { ActivityDeclarations, ClientOptions, StepwrightClient } from '@stepwright/sdk';
import type { DeclaredHandlers, UndeclaredHandlers } from './activity-handlers.js';
import type { WorkerLog } from './log.js';

/** The settings of every worker. */
export interface WorkerSettings {
  /**
   * The name of the worker, shown to operators; unique among the workers that run at the same time.
   *
   * @default the name of the machine, the process id and a random part
   */
  readonly workerId?: string;
  /**
   * The version of your worker program, shown to operators.
   *
   * @default the version of this package, such as `worker-sdk/0.1.0`
   */
  readonly version?: string;
  /**
   * The maximum number of concurrent handlers.
   *
   * @default 10
   */
  readonly concurrency?: number;
  /**
   * The lease of work items, in whole seconds. The server gives the work to another worker after this time without a heartbeat.
   * The worker sends about three heartbeats per lease.
   *
   * @default 30
   */
  readonly leaseSeconds?: number;
  /**
   * How long a poll waits for work, in whole seconds.
   *
   * @default 20
   */
  readonly pollSeconds?: number;
  /**
   * The log of the worker and of `context.log`.
   *
   * @default the console, without debug messages
   */
  readonly log?: WorkerLog;
}

/** The server, for a worker that creates its own client. */
export type ServerAddress = Pick<ClientOptions, 'baseUrl' | 'token' | 'fetch' | 'integers'> & {
  readonly client?: never;
};

/** The options of a worker whose handlers define the types of their parameters. */
export type WorkerOptions<P> = WorkerSettings &
  (
    | ServerAddress
    // A client with declared activities requires handlers of the declared types.
    | { readonly client: StepwrightClient & { readonly declaredActivities: undefined } }
  ) & {
    readonly declaredActivities?: never;
    readonly activities: UndeclaredHandlers<P>;
  };

/** The options of a worker whose activities were declared with `defineActivities`, in its client or in these options. */
export type DeclaredWorkerOptions<D extends ActivityDeclarations> = WorkerSettings &
  (
    | { readonly client: StepwrightClient<D>; readonly declaredActivities?: D }
    | (ServerAddress & { readonly declaredActivities: D })
  ) & { readonly activities: DeclaredHandlers<D> };

/** Both kinds of options, as the worker reads them. */
export type AnyWorkerOptions = WorkerSettings & {
  readonly declaredActivities?: ActivityDeclarations | undefined;
  readonly activities: Readonly<Record<string, unknown>>;
} & (ServerAddress | { readonly client: StepwrightClient });

/** The options of `stop`. */
export interface StopOptions {
  /**
   * The grace period: how long running handlers may take to finish, in milliseconds.
   *
   * @default 10000
   */
  readonly graceMs?: number;
}
