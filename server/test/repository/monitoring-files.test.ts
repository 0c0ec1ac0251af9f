/**
 * Goal: the dashboard, the alerts and the Compose file in deploy/ fit what the server offers.
 * Method: every metric that they and docs/operations.md name must be one that a running server registers, with the labels
 * by which they group.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { SETTINGS } from '../../src/config/settings.js';
import { RuntimeMetrics } from '../../src/runtime/fleet/runtime-metrics.js';
import { readTracingSettings } from '../../src/tracing/tracing-settings.js';

const ROOT = new URL('../../../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, ROOT), 'utf8');
const SOURCES = ['runtime/fleet/runtime-metrics', 'runtime/host-gauges', 'compose-host']
  .map((name) => read(`server/src/${name}.ts`))
  .join('\n');
/** Metrics whose names are literals in the sources, some of them registered only by a whole node. */
const KNOWN = new Set([
  ...[...SOURCES.matchAll(/'(stepwright_[a-z_]+)'/g)].map((match) => match[1] ?? ''),
  ...new RuntimeMetrics().registry.getMetricsAsArray().map(({ name }) => name),
]);

interface Panel {
  readonly id: number;
  readonly title: string;
  readonly targets: readonly { readonly expr: string }[];
}

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly description: string };
}

function metricsIn(text: string): readonly string[] {
  const names = [...text.matchAll(/\bstepwright_[a-z_]+/g)].map((match) => match[0]);
  // A histogram has these series.
  return names.map((name) => name.replace(/_(bucket|sum|count)$/, ''));
}

const dashboard = JSON.parse(read('deploy/monitoring/grafana-dashboard.json')) as {
  readonly panels: readonly Panel[];
};
const { groups } = parse(read('deploy/monitoring/alerts.yaml')) as {
  readonly groups: readonly { readonly rules: readonly Rule[] }[];
};
const rules = groups.flatMap((group) => group.rules);

describe('the dashboard', () => {
  it.each(dashboard.panels.map((panel) => [panel.title, panel] as const))(
    'shows metrics that exist: %s',
    (_title, { targets }) => {
      for (const { expr } of targets) {
        const metrics = metricsIn(expr);
        expect(metrics.length).toBeGreaterThan(0);
        for (const name of metrics) expect(KNOWN).toContain(name);
      }
    },
  );

  it('has panels with ids of their own', () => {
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
  });
});

describe('the set of alert rules', () => {
  it.each(rules.map((rule) => [rule.alert, rule] as const))(
    'uses existing metrics, and explains the problem: %s',
    (_name, { annotations, expr, labels }) => {
      for (const name of metricsIn(expr)) expect(KNOWN).toContain(name);
      expect(expr).toMatch(/stepwright/);
      expect(['warning', 'critical']).toContain(labels.severity);
      expect(annotations.summary).not.toBe('');
      expect(annotations.description).not.toBe('');
    },
  );

  it('covers the alerts that docs/operations.md advises', () => {
    const advised = read('docs/operations.md')
      .split('\n')
      .filter((line) => line.includes('alert on'))
      .flatMap((line) => metricsIn(line).slice(0, 1));
    expect(advised.length).toBeGreaterThan(2);
    const watched = rules.flatMap(({ expr }) => metricsIn(expr));
    for (const name of advised) expect(watched).toContain(name);
  });
});

describe('docs/operations.md', () => {
  it('names metrics that exist', () => {
    const rows = metricsIn(read('docs/operations.md').replaceAll(/`stepwright_\w+_\*`/g, ''));
    expect(rows.length).toBeGreaterThan(20);
    for (const name of rows) expect(KNOWN).toContain(name);
  });
});

describe('deploy/compose-tracing.yaml', () => {
  const { services } = parse(read('deploy/compose-tracing.yaml')) as {
    readonly services: Readonly<
      Record<
        string,
        { image: string; ports?: readonly string[]; environment?: Record<string, string> }
      >
    >;
  };

  it('pins its images, and publishes ports on the loopback address only', () => {
    for (const { image, ports = [] } of Object.values(services)) {
      expect(image).toMatch(/:\d+\.\d+\.\d+$/);
      for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:/);
    }
  });

  it('has settings that the server reads', () => {
    const environment = services['node1']?.environment ?? {};
    const own = Object.keys(environment).filter((name) => !name.startsWith('OTEL_'));
    expect(Object.keys(SETTINGS)).toEqual(expect.arrayContaining(own));
    expect(readTracingSettings(environment)).toMatchObject({ ratio: 1 });
  });

  it('runs this version, with the packages of the versions that are tested', () => {
    const { devDependencies, version } = JSON.parse(read('server/package.json')) as {
      readonly version: string;
      readonly devDependencies: Readonly<Record<string, string>>;
    };
    const packages = Object.entries(devDependencies).filter(([name]) => /opentelemetry/.test(name));
    const file = read('deploy/monitoring/tracing.Dockerfile');
    expect(services['node1']?.image).toBe(`stepwright-tracing:${version}`);
    expect(file).toContain(`FROM stepwright:${version}\n`);
    expect(packages).toHaveLength(4);
    for (const [name, range] of packages) expect(file).toContain(`${name}@${range.slice(1)}`);
  });
});
