/** Counts and durations for /metrics, under names with few distinct labels. */
import type { StepRecordStatus } from '../../engine/model/step-record.js';
import type { EndedAttempt } from '../../engine/session/session.js';
import type { Repair } from '../../engine/model/modification.js';
import { LimitMetrics } from './limit-metrics.js';
import { KnownLabels } from './known-labels.js';
import type { StoreStatistics } from '../../store/records/housekeeping.js';
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';

/** Sampling the event loop lag wakes an idle process 100 times per second. It's measured when metrics are read instead. */
const SAMPLED = ['min', 'max', 'mean', 'stddev', 'p50', 'p90', 'p99'];
const NEVER_MS = 2 ** 31 - 1;

/** How runs end: status and outcome. */
const ENDINGS = [
  ['Complete', 'Succeeded'],
  ['Complete', 'Compensated'],
  ['Terminated', 'Compensated'],
  ['Terminated', 'Failed'],
  ['Terminated', 'Terminated'],
] as const;

const RESULTS: Readonly<Record<StepRecordStatus, string>> = {
  Complete: 'ok',
  Failed: 'failed',
  Cancelled: 'cancelled',
  Compensated: 'compensated',
};

export class RuntimeMetrics {
  readonly registry = new Registry();
  readonly limits = new LimitMetrics(this.registry);
  readonly #started = this.#counter('stepwright_workflows_started_total', 'Instances started.');
  readonly #refusedStarts = this.#counter(
    'stepwright_starts_refused_total',
    'Starts refused, by reason: the definition is disabled, or its runs leave no room for another.',
    ['reason'],
  );
  readonly #joinedStarts = this.#counter(
    'stepwright_starts_joined_total',
    'Starts that returned the open run with the same reference.',
  );
  readonly #debouncedStarts = this.#counter(
    'stepwright_starts_debounced_total',
    'Starts that joined a run which had not begun (debounce).',
  );
  readonly #replaced = this.#counter(
    'stepwright_workflows_replaced_total',
    'Runs terminated by a start with the same reference.',
  );
  readonly #triggers = this.#counter(
    'stepwright_triggers_fired_total',
    'Due times and events of triggers, by outcome: Started, Skipped, Failed or Missed.',
    ['outcome'],
  );
  readonly #audited = this.#counter(
    'stepwright_audit_entries_total',
    'Changes by clients, by the kind of target, and by whether the entry was stored: stored or failed.',
    ['target', 'result'],
  );
  readonly #ended = this.#counter(
    'stepwright_workflows_ended_total',
    'Instances ended, by status, outcome and definition (empty: all others).',
    ['status', 'outcome', 'definition'],
  );
  readonly #removed = this.#counter(
    'stepwright_workflows_removed_total',
    'Ended runs removed from the store, by reason: retention or purge.',
    ['reason'],
  );
  readonly #repaired = this.#counter(
    'stepwright_workflows_repaired_total',
    'Runs repaired, by action: modify or rerun.',
    ['action'],
  );
  readonly #archived = this.#counter(
    'stepwright_workflows_archived_total',
    'Runs written to archive_dir before retention removes them.',
  );
  readonly #archiveFailures = this.#counter(
    'stepwright_archive_failures_total',
    'Attempts to archive runs that failed: nothing could be written, or a run could not be exported.',
  );
  readonly #authorizationsEnded = this.#counter(
    'stepwright_authorizations_ended_total',
    'Calls that ended because their token expired, or their API key was removed, while they were in progress.',
    ['reason'],
  );
  readonly #refusedDescendants = this.#counter(
    'stepwright_descendants_refused_total',
    'Starts by SubWorkflow steps that failed because the root run already has descendants_max open descendants.',
  );
  readonly #steps = this.#counter(
    'stepwright_steps_total',
    'Step attempts ended, by type and result.',
    ['type', 'result'],
  );
  readonly #failedAttempts = this.#counter(
    'stepwright_failed_attempts_total',
    'Failed step attempts, by definition (empty: all others) and by next action.',
    ['definition', 'next'],
  );
  /** The definitions with a label of their own. */
  readonly #definitions = new KnownLabels();
  readonly #startedDefinitions = new Set<string>();
  readonly #stepSeconds = new Histogram({
    name: 'stepwright_step_duration_seconds',
    help: 'Time from the start of a step attempt to its end, including waiting.',
    labelNames: ['type'],
    buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 60, 600, 3600],
    registers: [this.registry],
  });
  readonly #lost = this.#counter(
    'stepwright_commits_lost_total',
    'Commits rejected because a message had arrived in the meantime, and repeated.',
  );
  readonly #fenced = this.#counter(
    'stepwright_commits_fenced_total',
    'Instances evicted because another node had taken them over.',
  );
  readonly #storeOperations = this.#counter(
    'stepwright_store_operations_total',
    'Store operations, by name and result.',
    ['operation', 'result'],
  );
  readonly #storeSeconds = new Histogram({
    name: 'stepwright_store_operation_duration_seconds',
    help: 'Duration of store operations.',
    labelNames: ['operation'],
    buckets: [0.0005, 0.001, 0.002, 0.005, 0.01, 0.05, 0.2, 1, 5],
    registers: [this.registry],
  });
  readonly #memoryRefused = this.#counter(
    'stepwright_memory_refusals_total',
    'Calls rejected because memory_budget_bytes was used up, by kind: start, request or answer.',
    ['what'],
  );
  readonly #searchesRefused = this.#counter(
    'stepwright_searches_refused_total',
    'Searches refused because too many were waiting, by whose: caller (of the same caller) or all.',
    ['of'],
  );
  readonly #overflows = this.#counter(
    'stepwright_inbox_overflows_total',
    'Messages to instances that did not fit into the inbox.',
  );
  readonly #events = this.#counter('stepwright_events_published_total', 'Events published.');
  readonly #activities = this.#counter(
    'stepwright_activities_total',
    'Work items, by transition.',
    ['what'],
  );

  readonly #webhookCalls = this.#counter(
    'stepwright_webhook_calls_total',
    'Calls of webhooks, by result: accepted, repeated (known before), rejected (wrong signature or name) or failed.',
    ['result'],
  );
  readonly #deliveries = this.#counter(
    'stepwright_deliveries_total',
    'Attempts to deliver notifications, by result: delivered, retried (failed, and tried again later) or failed (given up).',
    ['result'],
  );
  readonly #bulkActions = this.#counter(
    'stepwright_bulk_actions_total',
    'Runs on which bulk jobs acted on this node, by action and outcome: done, skipped or failed.',
    ['action', 'outcome'],
  );

  readonly #instances = new Gauge({
    name: 'stepwright_workflows',
    help: 'Instances in the store, by status.',
    labelNames: ['status'],
    registers: [this.registry],
  });
  readonly #waitingActivities = new Gauge({
    name: 'stepwright_activities_waiting',
    help: 'Work items waiting for a worker, for the activities with the most items.',
    labelNames: ['activity'],
    registers: [this.registry],
  });
  readonly #oldestActivity = new Gauge({
    name: 'stepwright_activities_oldest_age_seconds',
    help: 'How long the oldest waiting work item has been waiting, in seconds.',
    labelNames: ['activity'],
    registers: [this.registry],
  });
  readonly #undelivered = new Gauge({
    name: 'stepwright_events_undelivered',
    help: 'Events stored but not yet delivered to every waiting run.',
    registers: [this.registry],
  });

  constructor() {
    collectDefaultMetrics({ register: this.registry, eventLoopMonitoringPrecision: NEVER_MS });
    for (const sampled of SAMPLED) {
      this.registry.removeSingleMetric(`nodejs_eventloop_lag_${sampled}_seconds`);
    }
  }

  /** A SubWorkflow step was not allowed to start a workflow. */
  descendantRefused(): void {
    this.#refusedDescendants.inc();
  }

  instanceStarted(definitionId: string): void {
    this.#started.inc();
    const definition = this.#definitions.of(definitionId);
    if (this.#startedDefinitions.has(definition)) return;
    this.#startedDefinitions.add(definition);
    // Prometheus sees no increase at the start of a series, so the first failed run might not trigger an alert.
    for (const [status, outcome] of ENDINGS) this.#ended.inc({ status, outcome, definition }, 0);
  }

  startRefused(reason: string): void {
    this.#refusedStarts.inc({ reason });
  }

  startJoined(by: 'reference' | 'debounce'): void {
    (by === 'reference' ? this.#joinedStarts : this.#debouncedStarts).inc();
  }

  webhookCalled(result: 'accepted' | 'repeated' | 'rejected' | 'failed'): void {
    this.#webhookCalls.inc({ result });
  }

  authorizationEnded(reason: 'expired' | 'revoked'): void {
    this.#authorizationsEnded.inc({ reason });
  }

  triggerFired(outcome: string): void {
    this.#triggers.inc({ outcome });
  }

  audited(target: string, result: 'stored' | 'failed'): void {
    this.#audited.inc({ target, result });
  }

  instanceReplaced(): void {
    this.#replaced.inc();
  }

  instanceEnded(definitionId: string, status: string, outcome: string): void {
    this.#ended.inc({ status, outcome, definition: this.#definitions.of(definitionId) });
  }

  instancesRemoved(reason: 'retention' | 'purge', count: number): void {
    this.#removed.inc({ reason }, count);
  }

  instanceRepaired(action: Repair['action']): void {
    this.#repaired.inc({ action });
  }

  instancesArchived(count: number): void {
    this.#archived.inc(count);
  }

  archiveFailed(): void {
    this.#archiveFailures.inc();
  }

  /** `next`: the step's next action. */
  attemptFailed(definitionId: string, next: string): void {
    this.#failedAttempts.inc({ definition: this.#definitions.of(definitionId), next });
  }

  /** There are as many types as there are scripts. */
  attemptEnded({ durationMs, status, type }: EndedAttempt): void {
    this.#steps.inc({ type, result: RESULTS[status] });
    this.#stepSeconds.observe({ type }, durationMs / 1000);
  }

  commitLost(): void {
    this.#lost.inc();
  }

  /** A message to an instance did not fit into its inbox. */
  inboxOverflowed(): void {
    this.#overflows.inc();
  }

  fenced(): void {
    this.#fenced.inc();
  }

  storeOperation(operation: string, durationMs: number, succeeded: boolean): void {
    this.#storeOperations.inc({ operation, result: succeeded ? 'ok' : 'failed' });
    this.#storeSeconds.observe({ operation }, durationMs / 1000);
  }

  memoryRefused(what: 'start' | 'request' | 'answer'): void {
    this.#memoryRefused.inc({ what });
  }

  searchRefused(of: 'caller' | 'all'): void {
    this.#searchesRefused.inc({ of });
  }

  eventPublished(): void {
    this.#events.inc();
  }

  activity(what: 'handed_out' | 'completed' | 'failed' | 'released'): void {
    this.#activities.inc({ what });
  }

  deliveryTried(result: 'delivered' | 'retried' | 'failed'): void {
    this.#deliveries.inc({ result });
  }

  bulkActed(action: string, outcome: 'done' | 'skipped' | 'failed'): void {
    this.#bulkActions.inc({ action, outcome });
  }

  /** Shows the used and the maximum bytes of each part of the memory budget. */
  showMemory(
    read: () => Readonly<Record<string, { readonly used: number; readonly limit: number }>>,
  ): void {
    const show = (name: string, help: string, of: 'used' | 'limit'): void => {
      new Gauge({
        name,
        help,
        labelNames: ['part'],
        registers: [this.registry],
        collect() {
          for (const [part, numbers] of Object.entries(read())) this.set({ part }, numbers[of]);
        },
      });
    };
    show('stepwright_memory_used_bytes', 'Memory in use of memory_budget_bytes, by part.', 'used');
    show('stepwright_memory_limit_bytes', 'Limit of each part of memory_budget_bytes.', 'limit');
  }

  /** Shows the use of the memory budget's part `answers`, and its queue. */
  showAnswerMemory(answers: {
    readonly usedByKind: ReadonlyMap<string, number>;
    readonly waiting: number;
  }): void {
    this.gauges(
      'stepwright_answer_memory_bytes',
      'Memory in use for answers, by kind: reads, work_items, texts or streams.',
      'kind',
      () => answers.usedByKind,
    );
    this.gauge(
      'stepwright_answer_memory_waiting',
      'Requests that wait for memory for their answer.',
      () => answers.waiting,
    );
  }

  /** A gauge that is read when the metrics are requested. */
  gauge(name: string, help: string, read: () => number): void {
    new Gauge({
      name,
      help,
      registers: [this.registry],
      collect() {
        this.set(read());
      },
    });
  }

  /** Like `gauge`, with a value for each label. */
  gauges(name: string, help: string, label: string, read: () => ReadonlyMap<string, number>): void {
    new Gauge({
      name,
      help,
      labelNames: [label],
      registers: [this.registry],
      collect() {
        this.reset();
        for (const [value, count] of read()) this.set({ [label]: value }, count);
      },
    });
  }

  /** Shows the store's statistics; ages are in seconds at `now`. */
  showStore(statistics: StoreStatistics, now: number): void {
    for (const [status, count] of Object.entries(statistics.instances)) {
      this.#instances.set({ status }, count);
    }
    this.#waitingActivities.reset();
    this.#oldestActivity.reset();
    for (const { name, oldestAvailableAt, waiting } of statistics.activities) {
      this.#waitingActivities.set({ activity: name }, waiting);
      const ageMs = oldestAvailableAt === null ? 0 : Math.max(0, now - oldestAvailableAt);
      this.#oldestActivity.set({ activity: name }, ageMs / 1000);
    }
    this.#undelivered.set(statistics.undeliveredEvents);
  }

  #counter(name: string, help: string, labelNames: string[] = []): Counter {
    return new Counter({ name, help, labelNames, registers: [this.registry] });
  }
}
