/** Reports the outcome of work, until the server has accepted it or no longer needs it. */
import {
  isApiError,
  isSdkError,
  pause,
  type StepwrightClient,
  type WorkItem,
} from '@stepwright/sdk';
import type { FailureReport } from './failure-report.js';
import type { Lease } from './lease.js';
import { backoffMs, type BackoffRange } from './backoff.js';

const MESSAGE_LENGTH_MAX = 1000;
/** After this many responses with status 500, the worker sends a simpler report. */
const STUMBLES_MAX = 3;

/** How the handler ended. */
export type HandlerOutcome =
  | { readonly succeeded: true; readonly result: unknown }
  | { readonly succeeded: false; readonly failure: FailureReport; readonly retryable: boolean };

/**
 * The result of a report: accepted, accepted as a failure because the server cannot process the result, too late, or too late
 * because the run was undone.
 */
export type ReportOutcome = 'accepted' | 'accepted-as-failure' | 'too-late' | 'canceled';

export interface ReportOptions {
  readonly client: StepwrightClient;
  readonly item: WorkItem;
  readonly lease: Lease;
  readonly leaseSeconds: number;
  readonly backoff: BackoffRange;
  /** Ends the attempts when the worker can no longer wait. */
  readonly signal: AbortSignal;
}

/**
 * Retries while the server is unavailable. The server accepts a report even after the lease, unless another worker has claimed
 * the work. So the worker retries for one more lease, and then drops the report.
 */
export async function report(
  outcome: HandlerOutcome,
  options: ReportOptions,
): Promise<ReportOutcome> {
  const { lease, leaseSeconds, signal } = options;
  for (let failures = 1; !signal.aborted; failures += 1) {
    try {
      await send(outcome, options);
      return 'accepted';
    } catch (error) {
      if (isApiError(error, 'activity_not_found')) return 'too-late';
      if (isApiError(error, 'work_cancelled')) return 'canceled';
      if (cannotBeTaken(error, failures)) return reportSimpler(outcome, error, options);
      if (lease.remainingMs < -leaseSeconds * 1000) return 'too-late';
    }
    await pause(backoffMs(failures, options.backoff), signal);
  }
  return 'too-late';
}

async function send(
  outcome: HandlerOutcome,
  { client, item, signal }: ReportOptions,
): Promise<void> {
  if (outcome.succeeded) await client.activities.succeed(item, outcome.result, { signal });
  else {
    const { failure, retryable } = outcome;
    await client.activities.fail(item, failure, { signal, retryable });
  }
}

/** The value is not JSON, the server rejects it (too large, too deeply nested), or it repeatedly responds with status 500. */
function cannotBeTaken(error: unknown, failures: number): boolean {
  if (!isSdkError(error)) return error instanceof TypeError || error instanceof RangeError;
  if (!isApiError(error)) return false;
  const isRefused = [400, 413, 415, 422].includes(error.status);
  return isRefused || (error.status === 500 && failures >= STUMBLES_MAX);
}

/** Replaces a result with a failure that gives the reason, and removes the data of a failure. */
async function reportSimpler(
  outcome: HandlerOutcome,
  error: unknown,
  options: ReportOptions,
): Promise<ReportOutcome> {
  const failure = outcome.succeeded ? unusable(error) : withoutData(outcome.failure);
  // There is no simpler report: the lease will end, and the server will offer the work again.
  if (failure === null) return 'too-late';
  const retryable = outcome.succeeded || outcome.retryable;
  const reported = await report({ succeeded: false, failure, retryable }, options);
  return reported === 'accepted' ? 'accepted-as-failure' : reported;
}

function unusable(error: unknown): FailureReport {
  const reason = error instanceof Error ? error.message : String(error);
  const message = `the result cannot be reported: ${reason}`.slice(0, MESSAGE_LENGTH_MAX);
  return { name: 'InvalidResult', message, data: null };
}

function withoutData(failure: FailureReport): FailureReport | null {
  const { data, message } = failure;
  if (data === null && message.length <= MESSAGE_LENGTH_MAX) return null;
  return { ...failure, message: message.slice(0, MESSAGE_LENGTH_MAX), data: null };
}
