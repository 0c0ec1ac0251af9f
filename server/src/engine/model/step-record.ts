/** The history of an instance: one record for each ended attempt of a step, with its error if it failed. */
import type { Json } from '../values/json.js';

/** Why a step failed, as stored and shown. */
export interface StepError {
  readonly stepId: string;
  /** The pointer of the failed execution, which may have ended. */
  readonly pointerId: number;
  readonly type: string;
  readonly message: string;
  readonly traceback: string | null;
  /** The data that an activity worker reported, or the Data of a Fail step; null otherwise. */
  readonly data: Json;
  readonly attempt: number;
  readonly time: number;
  /** When the execution first failed for this cause, if it has kept failing since then. Omitted: at `time`. */
  readonly since?: number;
  /** Present only if another attempt cannot succeed: neither the step nor the saga around it is retried. */
  readonly retryable?: false;
}

/** `Cancelled`: the spelling is stored, and the wire's. */
export type StepRecordStatus = 'Complete' | 'Failed' | 'Cancelled' | 'Compensated';

/** One entry of an instance's history: one attempt of one step that has ended. */
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
  /** The attempt that produced the result, if only outputs and selectors were evaluated again since. */
  readonly bodyAttempt?: number;
  /** The reason of the modification that canceled the step, or else of the one that started it. */
  readonly reason?: string;
  /** The instance that a SubWorkflow step used without having started it. */
  readonly joined?: string;
  /** The execution that this compensation step undoes. */
  readonly compensates?: number;
  /** The container that it ran in, if the instance is traced. */
  readonly within?: number;
}
