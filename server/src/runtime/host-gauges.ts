/** A node's gauges, read when its metrics are requested. */
import type { ScriptRuntime, ScriptRuntimeStatistics } from '../scripts/script-runtime.js';
import type { NodeServices } from './node-services.js';
import type { StatisticsCache } from './fleet/statistics-cache.js';
import type { RuntimeMetrics } from './fleet/runtime-metrics.js';

type PythonGauge = keyof ScriptRuntimeStatistics;

const PYTHON_GAUGES: Readonly<Record<PythonGauge, string>> = {
  interpreters: 'Idle Python interpreters.',
  busy: 'Busy Python interpreters.',
  queued: 'Evaluations waiting for an interpreter.',
  replaced: 'Interpreters stopped and replaced since the start.',
  timeouts: 'Evaluations that timed out since the start.',
};

export function showGauges(
  metrics: RuntimeMetrics,
  services: NodeServices,
  scripts: ScriptRuntime,
): void {
  const { broker, environment, runner } = services;
  metrics.gauge('stepwright_workflows_in_memory', 'Instances in memory.', () => runner.inMemory);
  metrics.gauge(
    'stepwright_workflows_waiting_for_memory',
    'Instances waiting in the store until memory is available.',
    () => runner.memory.waiting,
  );
  metrics.gauge(
    'stepwright_memory_waits',
    'Times an instance has had to wait for memory since the start.',
    () => runner.memory.waits,
  );
  metrics.gauge(
    'stepwright_workflows_queued',
    'Instances waiting for a turn.',
    () => environment.queued,
  );
  metrics.gauge(
    'stepwright_index_refresh_definitions',
    'Definitions whose open instances are being brought up to date with a changed Index.',
    () => services.indexRefresh.pending,
  );
  metrics.gauge(
    'stepwright_index_refresh_instances',
    'Instances whose index fields this node has brought up to date since the start.',
    () => services.indexRefresh.refreshed,
  );
  metrics.gauge(
    'stepwright_change_listeners',
    'Open change streams on this node.',
    () => services.changes.listeners,
  );
  metrics.gauge(
    'stepwright_pollers',
    'Workers waiting for work on this node.',
    () => broker.waiting,
  );
  metrics.gauges(
    'stepwright_workers_waiting',
    'Workers waiting for work on this node, for the activities with the most workers.',
    'activity',
    () => mostOf(broker.workers.waitingByActivity()),
  );
  metrics.gauge(
    'stepwright_bulk_jobs_running',
    'Bulk jobs that this node works on.',
    () => services.bulk.runner.running,
  );
  for (const [name, help] of Object.entries(PYTHON_GAUGES) as [PythonGauge, string][]) {
    metrics.gauge(`stepwright_python_${name}`, help, () => scripts.statistics()[name]);
  }
}

/** Each label costs memory in Prometheus. */
const ACTIVITY_LABELS_MAX = 100;

function mostOf(counts: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
  const sorted = [...counts].sort(([, left], [, right]) => right - left);
  return new Map(sorted.slice(0, ACTIVITY_LABELS_MAX));
}

export function showStatisticsAge(metrics: RuntimeMetrics, cache: StatisticsCache): void {
  metrics.gauge(
    'stepwright_store_figures_age_seconds',
    'Age of the numbers of instances, waiting activities and undelivered events.',
    () => cache.ageMs / 1000,
  );
}
