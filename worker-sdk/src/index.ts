/**
 * Workers for the activities of Stepwright workflows.
 *
 * It provides polling, leases, heartbeats and reports for the handlers of a program. It owns the claimed work items. It must
 * not know how the server stores work: it uses only the calls of `@stepwright/sdk`.
 */
export { activity, createClient, defineActivities } from '@stepwright/sdk';
export type { ActivityContext } from './activity-context.js';
export type {
  ActivityHandler,
  ActivityOptions,
  DeclaredHandlers,
  UndeclaredHandlers,
} from './activity-handlers.js';
export {
  ActivityFailure,
  InvalidDataError,
  LeaseLostError,
  WorkCancelledError,
  WorkerStoppedError,
} from './errors.js';
export type { ActivityFailureOptions, SchemaIssue } from './errors.js';
export type { WorkerLog } from './log.js';
export { openTelemetry } from './open-telemetry.js';
export type { ActivitySpan, OpenTelemetryApi, SpanSettings } from './open-telemetry.js';
export type { ActivityWork, Middleware } from './run-handler.js';
export { stopOnSignals } from './stop-on-signals.js';
export { Worker } from './worker-constructor.js';
export type { WorkerConstructor } from './worker-constructor.js';
export type { WorkerEvents, WorkerStats, WorkSubject } from './worker-events.js';
export type {
  DeclaredWorkerOptions,
  StopOptions,
  WorkerOptions,
  WorkerSettings,
} from './worker-options.js';
