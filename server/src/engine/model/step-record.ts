/** What an instance keeps of the steps that ran: one record for each attempt that has ended, and why it failed. */
import type { Json } from '../values/json.js';

/** Why a step failed, as it is kept and shown. */
export interface StepError {
  readonly stepId: string;
  /** Where the failing execution is or was. */
  readonly pointerId: number;
  readonly type: string;
  readonly message: string;
  readonly traceback: string | null;
  /** What an activity worker reported, or the Data of a Fail step; null otherwise. */
  readonly data: Json;
  readonly attempt: number;
  readonly time: number;
  /** Only where another attempt cannot succeed: nothing retries the step, nor the saga around it. */
  readonly retryable?: false;
}

export type StepRecordStatus = 'Complete' | 'Failed' | 'Cancelled' | 'Compensated';

/** One line of an instance's history: one attempt of one step that has ended. */
export interface StepRecord {
  readonly pointerId: number;
  readonly stepId: string;
  readonly status: StepRecordStatus;
  readonly attempt: number;
  readonly startTime: number;
  readonly endTime: number;
  readonly item?: Json;
  readonly index?: number;
  readonly inputs: Json;
  readonly outputs: Json;
  readonly error: StepError | null;
  /** The attempt that got the result, where only outputs and selectors were evaluated again since. */
  readonly bodyAttempt?: number;
}
