/** Tells the server how work ended, until it has heard or nobody wants to hear it. */
import { isApiError, isSdkError, type StepwrightClient, type WorkItem } from '@stepwright/sdk';
import type { Lease } from './lease.js';
import { backoffMs, pause, type BackoffRange } from './pause.js';
import type { FailureReport } from './run-handler.js';

/** How the handler ended. */
export type HandlerOutcome =
  | { readonly succeeded: true; readonly result: unknown }
  | { readonly succeeded: false; readonly failure: FailureReport };

/** What became of it: accepted as it is, accepted as a failure because the server cannot take the result, or too late. */
export type ReportOutcome = 'accepted' | 'accepted-as-failure' | 'too-late';

export interface ReportOptions {
  readonly client: StepwrightClient;
  readonly item: WorkItem;
  readonly lease: Lease;
  readonly leaseSeconds: number;
  readonly backoff: BackoffRange;
  /** Ends the attempts when the worker cannot wait any longer. */
  readonly signal: AbortSignal;
}

/**
 * While the server is away the report waits. The server takes it as long as nobody else has got the work, even after the
 * lease; so it is tried for one more lease, and then dropped.
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
      if (outcome.succeeded && cannotBeTaken(error)) {
        const asFailure = await report({ succeeded: false, failure: unusable(error) }, options);
        return asFailure === 'accepted' ? 'accepted-as-failure' : asFailure;
      }
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
  else await client.activities.fail(item, outcome.failure, { signal });
}

/** A result that is no JSON, or that the server refuses for what it is (too large, too deep). */
function cannotBeTaken(error: unknown): boolean {
  if (!isSdkError(error)) return error instanceof TypeError || error instanceof RangeError;
  return isApiError(error) && [400, 413, 415, 422].includes(error.status);
}

function unusable(error: unknown): FailureReport {
  const reason = error instanceof Error ? error.message : String(error);
  return { name: 'InvalidResult', message: `the result cannot be reported: ${reason}`, data: null };
}
