/** The options of a node's services. */
import type { RunArchiveOptions } from './archive/run-archive.js';
import type { Backplane } from '../backplane/backplane.js';
import type { Logger } from '../base/logger.js';
import type { ScriptRuntime } from '../scripts/script-runtime.js';
import type { CustomStepBody, CustomStepOptions } from '../step-bodies/custom-step.js';
import type { StepBody } from '../step-bodies/step-body.js';
import type { NodeRecord } from '../store/records/nodes.js';
import type { Store } from '../store/store.js';
import type { Clock } from '../base/clock.js';
import type { Ids } from '../base/ids.js';
import type { SecretSource } from '../secrets/secret-source.js';
import type { Seal } from '../base/seal.js';
import type { Tracing } from '../tracing/tracing.js';
import type { RuntimeMetrics } from './fleet/runtime-metrics.js';
import type { RunnerLimits } from './instances/runner-environment.js';

export interface NodeServicesOptions {
  readonly store: Store;
  readonly backplane: Backplane;
  readonly scripts: ScriptRuntime;
  readonly httpRequest: StepBody;
  /** Delivers notifications, under the same rules as HttpRequest steps. */
  readonly webhookRequest: StepBody;
  readonly seal: Seal;
  /** Default: there are no secrets. */
  readonly secretSource?: SecretSource;
  /** The body of custom steps; it finds its scripts through `find`. */
  readonly customStep: (find: CustomStepOptions['find']) => CustomStepBody;
  readonly clock: Clock;
  /** The source of randomness for ids and tokens. */
  readonly ids: Ids;
  readonly logger: Logger;
  readonly metrics: RuntimeMetrics;
  readonly node: Omit<NodeRecord, 'beatAt' | 'details'>;
  readonly processIsGone: (node: NodeRecord) => boolean;
  readonly settings: HostSettings;
  /** Default: no traces are recorded. */
  readonly tracing?: Tracing;
  /** The archive for expired instances, before they are removed. Default: none. */
  readonly archive?: Pick<RunArchiveOptions, 'directory' | 'textOf'>;
}

export interface HostSettings extends RunnerLimits {
  /** Maximum number of concurrent starts; more are rejected. */
  readonly startsMax: number;
  /** Maximum number of lines per second that the EmitLog steps of one definition may write. */
  readonly emitLinesPerSecondMax: number;
  readonly waitersMax: number;
  /** Maximum number of valid calls of a webhook per minute on this node. */
  readonly webhookCallsPerMinuteMax: number;
  readonly instanceRetentionMs: number;
  readonly eventRetentionMs: number;
  readonly auditRetentionMs: number;
  readonly scanIntervalMs: number;
  readonly drainMs: number;
  readonly crashesMax: number;
  readonly beatIntervalMs: number;
  readonly leaseMs: number;
  /** The longest lease of a work item. */
  readonly workLeaseMsMax: number;
  readonly repairIntervalMs: number;
  readonly purgeIntervalMs: number;
}
