/** The follow-up of a durable commit outside the instance (R2): writes log lines, counts, notifies waiting callers. */
import type { Instance } from '../../engine/model/instance.js';
import type { ModificationAnswer } from '../../engine/model/modification.js';
import type { WindowJoin } from '../../engine/session/session.js';
import type { Logger } from '../../base/logger.js';
import type { Clock } from '../../base/clock.js';
import type { ActivityBroker } from '../activities/activity-broker.js';
import type { ChangeFeed } from '../changes/change-feed.js';
import type { RunHistory } from '../fleet/run-history.js';
import type { RuntimeMetrics } from '../fleet/runtime-metrics.js';
import type { InstanceView } from '../model/instance-types.js';
import type { LimitKey } from '../../store/records/slots.js';
import { viewCommitted } from '../instance-state/instance-views.js';
import { EmittedLines } from '../passes/emitted-lines.js';
import { FailedAttemptsLog } from '../passes/failed-attempts-log.js';
import type { Tracing } from '../../tracing/tracing.js';
import { InstanceSpans } from '../tracing/instance-spans.js';
import type { UnsavedChanges } from '../instance-state/unsaved-changes.js';

export interface CommitFollowUpOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: RuntimeMetrics;
  readonly history: RunHistory;
  readonly tracing?: Tracing;
  /** Maximum number of lines per second that the EmitLog steps of one definition may write. */
  readonly emitLinesPerSecondMax: number;
  readonly workers: Pick<ActivityBroker, 'created'>;
  /** Others may wait for slots that the commit has freed. */
  readonly lookAtLimits: (keys: readonly LimitKey[]) => void;
  readonly changes: Pick<ChangeFeed, 'committed'>;
  readonly ended: (view: InstanceView) => void;
  /** Called if the commit contains results of modifications. */
  readonly answered: (answers: readonly ModificationAnswer[]) => void;
  /** Called if starts were sent to the window of the instance. */
  readonly joined: (joins: readonly WindowJoin[], view: () => InstanceView) => void;
}

export class CommitFollowUp {
  readonly #options: CommitFollowUpOptions;
  readonly #emitted: EmittedLines;
  readonly #failedAttempts: FailedAttemptsLog;
  readonly #spans: InstanceSpans | null;

  constructor(options: CommitFollowUpOptions) {
    this.#options = options;
    const { emitLinesPerSecondMax: linesPerSecondMax } = options;
    this.#emitted = new EmittedLines({ ...options, linesPerSecondMax });
    this.#failedAttempts = new FailedAttemptsLog(options);
    this.#spans = options.tracing === undefined ? null : new InstanceSpans(options.tracing);
  }

  /**
   * @param committedAt the last change in the store
   * @param the start of the committed work
   */
  committed(
    instance: Instance,
    saved: UnsavedChanges,
    committedAt: number,
    since: number | null,
  ): void {
    const { answered, changes, ended, history, joined, lookAtLimits, metrics, workers } =
      this.#options;
    const { definitionId, id: workflowId, outcome, status } = instance;
    const ids = { workflowId, definitionId };
    for (const line of saved.logLines) this.#emitted.write({ ...ids, ...line }, instance.trace);
    this.#failedAttempts.note(instance, saved.failedAttempts);
    for (const { action } of saved.repairs) metrics.instanceRepaired(action);
    for (const attempt of saved.endedAttempts) metrics.attemptEnded(attempt);
    for (const { limit, waitedMs } of saved.endedSlotWaits) metrics.limits.waited(limit, waitedMs);
    this.#spans?.committed(instance, saved, { now: this.#options.clock.now(), since });
    workers.created(saved.side.activities);
    if (saved.limitKeys.length > 0) lookAtLimits(saved.limitKeys);
    changes.committed(instance);
    if (instance.answers.length > 0) answered(instance.answers);
    if (saved.joins.length > 0) joined(saved.joins, () => viewCommitted(instance, committedAt));
    if (status !== 'Complete' && status !== 'Terminated') return;
    metrics.instanceEnded(definitionId, status, outcome ?? '');
    history.ended(outcome ?? 'Terminated', instance.startTime);
    ended(viewCommitted(instance, committedAt));
  }

  /** Writes the log lines that were held back. */
  stop(): void {
    this.#emitted.stop();
    this.#failedAttempts.stop();
  }
}
