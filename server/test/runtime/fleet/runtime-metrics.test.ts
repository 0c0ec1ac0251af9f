/** Metrics with a label for each definition, whose number is bounded. */
import { expect, it } from 'vitest';
import { RuntimeMetrics } from '../../../src/runtime/fleet/runtime-metrics.js';

it('names the first 500 definitions, and counts all others together', async () => {
  const metrics = new RuntimeMetrics();
  for (let index = 0; index < 700; index += 1) {
    metrics.instanceStarted(`d${index}`);
    metrics.instanceEnded(`d${index}`, 'Terminated', 'Failed');
    metrics.attemptFailed(`d${index}`, 'terminated');
  }
  for (const name of ['stepwright_workflows_ended_total', 'stepwright_failed_attempts_total']) {
    const { values = [] } = (await metrics.registry.getSingleMetric(name)?.get()) ?? {};
    const counts = new Map(
      values
        .filter(({ value }) => value > 0)
        .map(({ labels, value }) => [labels['definition'], value]),
    );
    expect(counts.size).toBe(501);
    expect(counts.get('d0')).toBe(1);
    expect(counts.get('d499')).toBe(1);
    expect(counts.get('')).toBe(200);
  }
});

it('shows a definition with the first start, so that its first failed run is an increase', async () => {
  const metrics = new RuntimeMetrics();
  metrics.instanceStarted('order');
  const text = await metrics.registry.metrics();
  const series =
    'stepwright_workflows_ended_total{status="Terminated",outcome="Failed",definition="order"}';
  expect(text).toContain(`${series} 0`);
});
