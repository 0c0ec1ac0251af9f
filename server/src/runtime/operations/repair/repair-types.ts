/** Requests that repair an instance, and their results. */
import type {
  Execution,
  ModificationWarning,
  RepeatedStep,
  StepStart,
} from '../../../engine/model/modification.js';
import type { JsonObject } from '../../../engine/values/json.js';
import type { IdempotencyKey } from '../../model/idempotency-key.js';
import type { InstanceView } from '../../model/instance-types.js';

/** Consists of JSON values, so that it can be stored. */
export interface ModifyRequest {
  readonly reason: string;
  /** Repetitions of a request have the same key, so it takes effect once. Ignored in a dry run. */
  readonly idempotency?: IdempotencyKey;
  /** A JSON Merge Patch on the data. */
  readonly data?: JsonObject;
  readonly cancel?: readonly number[] | 'all';
  readonly start?: readonly StepStart[];
  /** Default: the version does not change. */
  readonly version?: number;
  readonly stepMap?: Readonly<Record<string, string>>;
  readonly resume?: boolean;
  /** Changes nothing; the result shows what would happen. */
  readonly dryRun?: boolean;
}

/** Cancels everything, starts at a step, and resumes. */
export interface RerunRequest extends Pick<
  ModifyRequest,
  'reason' | 'idempotency' | 'data' | 'version' | 'dryRun'
> {
  /** Default: the first step. */
  readonly from?: string;
}

export interface RepairedInstance {
  readonly instance: InstanceView;
  /** The spelling is the wire's. */
  readonly cancelled: readonly Execution[];
  readonly started: readonly Execution[];
  /** Steps with effects outside the server that ran before and will, or may, run again. */
  readonly repeats: readonly RepeatedStep[];
  readonly warnings: readonly ModificationWarning[];
}
