/** The numbers of a node that are asked for when somebody reads its metrics. */
import type { ScriptRuntime, ScriptRuntimeStatistics } from '../../scripts/script-runtime.js';
import type { NodeServices } from '../node-services.js';
import type { RuntimeMetrics } from './runtime-metrics.js';

type PythonGauge = keyof ScriptRuntimeStatistics;

const PYTHON_GAUGES: Readonly<Record<PythonGauge, string>> = {
  interpreters: 'Python interpreters that are ready.',
  busy: 'Python interpreters at work.',
  queued: 'Evaluations that wait for an interpreter.',
  replaced: 'Interpreters that were ended and replaced since the start.',
  timeouts: 'Evaluations that took too long since the start.',
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
    'Instances that wait in the store until there is memory for them.',
    () => runner.memory.waiting,
  );
  metrics.gauge(
    'stepwright_memory_waits',
    'How often an instance had to wait for memory since the start.',
    () => runner.memory.waits,
  );
  metrics.gauge(
    'stepwright_workflows_queued',
    'Instances that wait for a turn.',
    () => environment.queued,
  );
  metrics.gauge(
    'stepwright_change_listeners',
    'Callers that listen to changes here.',
    () => services.changes.listeners,
  );
  metrics.gauge('stepwright_pollers', 'Workers that wait for work here.', () => broker.waiting);
  for (const [name, help] of Object.entries(PYTHON_GAUGES) as [PythonGauge, string][]) {
    metrics.gauge(`stepwright_python_${name}`, help, () => scripts.statistics()[name]);
  }
}
