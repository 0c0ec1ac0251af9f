/**
 * Goal: the Helm chart installs what deploy/kubernetes does.
 * Method: reads its values, schema and templates; where the command `helm` is installed, also lints it, renders it and compares
 * the objects.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { SETTINGS } from '../../src/config/settings.js';

const ROOT = new URL('../../../', import.meta.url);
const CHART = new URL('deploy/helm/stepwright/', ROOT);
const TEMPLATES = readdirSync(new URL('templates/', CHART)).map((file) =>
  readFileSync(new URL(`templates/${file}`, CHART), 'utf8'),
);
const TEXT = TEMPLATES.join('\n');

type Values = Readonly<Record<string, unknown>>;

function read(path: string): string {
  return readFileSync(new URL(path, ROOT), 'utf8');
}

const values = parse(read('deploy/helm/stepwright/values.yaml')) as Values;

/** `image.tag`: the paths of all values that are no maps with members. */
function pathsOf(value: unknown, path: string): readonly string[] {
  const isMap = typeof value === 'object' && value !== null && !Array.isArray(value);
  const members = isMap ? Object.entries(value) : [];
  if (members.length === 0) return [path];
  return members.flatMap(([name, inside]) =>
    pathsOf(inside, path === '' ? name : `${path}.${name}`),
  );
}

describe('the Helm chart', () => {
  it('has the version of the server', () => {
    const { version } = JSON.parse(read('package.json')) as { readonly version: string };
    expect(parse(read('deploy/helm/stepwright/Chart.yaml'))).toMatchObject({
      version,
      appVersion: version,
    });
  });

  it('uses every value, and no others', () => {
    const used = [...TEXT.matchAll(/\.Values\.([\w.]+)/g)].map(([, path = '']) => path);
    const known = pathsOf(values, '');
    const fits = (one: string, other: string): boolean =>
      one === other || other.startsWith(`${one}.`) || one.startsWith(`${other}.`);
    expect(known.filter((path) => !used.some((each) => fits(each, path)))).toEqual([]);
    expect(used.filter((path) => !known.some((each) => fits(path, each)))).toEqual([]);
  });

  it('has a schema that accepts its values, and rejects misspelled ones', () => {
    const schema = JSON.parse(read('deploy/helm/stepwright/values.schema.json')) as Values;
    const validate = new Ajv({ allowUnionTypes: true }).compile(schema);
    expect(validate(values), JSON.stringify(validate.errors)).toBe(true);
    for (const wrong of [{ replica: 2 }, { replicas: '2' }, { store: { kind: 'mongo' } }]) {
      expect(validate({ ...values, ...wrong }), JSON.stringify(wrong)).toBe(false);
    }
  });

  it('sets settings that exist', () => {
    const names = [...TEXT.matchAll(/"name" "(\w+)"/g)].map(([, name = '']) => name.toLowerCase());
    expect(names).toContain('secrets_dir');
    expect(Object.keys(SETTINGS)).toEqual(expect.arrayContaining(names));
  });
});

const HELM = spawnSync('helm', ['version', '--short'], { encoding: 'utf8' });

describe('the Helm chart, rendered', () => {
  const helm = (...args: readonly string[]): string => {
    const { status, stderr, stdout } = spawnSync('helm', args, { encoding: 'utf8' });
    expect(status, stderr).toBe(0);
    return stdout;
  };
  const chart = fileURLToPath(CHART);

  interface Manifest {
    readonly kind: string;
    readonly metadata: { readonly name: string };
  }

  function manifestsOf(text: string): readonly Manifest[] {
    return parseAllDocuments(text)
      .map((document) => document.toJS() as Manifest | null)
      .filter((manifest) => manifest !== null);
  }

  const plain = (): readonly Manifest[] =>
    readdirSync(new URL('deploy/kubernetes/', ROOT)).flatMap((file) =>
      manifestsOf(read(`deploy/kubernetes/${file}`)),
    );

  /** Without the labels that only charts have. */
  function comparable(manifest: Manifest): unknown {
    const text = JSON.stringify(manifest, (name, value: unknown) =>
      /^(app\.kubernetes\.io|helm\.sh)\//.test(name) ? undefined : value,
    );
    const value = JSON.parse(text) as { metadata: { labels?: unknown } };
    if (manifest.kind !== 'ServiceMonitor') delete value.metadata.labels;
    return value;
  }

  it('passes helm lint, and renders the objects of deploy/kubernetes', (test) => {
    if (HELM.status !== 0) return test.skip('helm is not installed');
    helm('lint', '--strict', chart);
    const policy = plain().find(({ kind }) => kind === 'NetworkPolicy') as unknown as {
      readonly spec: { readonly egress: readonly unknown[] };
    };
    const egress = JSON.stringify(policy.spec.egress.slice(1));
    const optional = ['ingress', 'networkPolicy', 'serviceMonitor'];
    const rendered = manifestsOf(
      helm(
        'template',
        'stepwright',
        chart,
        ...optional.map((name) => `--set=${name}.enabled=true`),
        `--set-json=networkPolicy.egress=${egress}`,
      ),
    );
    const byKind = (manifests: readonly Manifest[]): unknown =>
      Object.fromEntries(
        manifests
          .map((manifest) => [manifest.kind, manifest])
          .map(([kind, manifest]) => [kind as string, comparable(manifest as Manifest)]),
      );
    const ours = byKind(rendered) as Record<string, { metadata?: { labels?: unknown } }>;
    const theirs = byKind(plain()) as Record<string, unknown>;
    expect(Object.keys(ours).sort()).toEqual(Object.keys(theirs).sort());
    for (const [kind, manifest] of Object.entries(theirs)) {
      expect(ours[kind], kind).toMatchObject(manifest as object);
    }
  });

  it('keeps the embedded store on a volume, on one node', (test) => {
    if (HELM.status !== 0) return test.skip('helm is not installed');
    const rendered = manifestsOf(
      helm('template', 'one', chart, '--set=store.kind=embedded', '--set=auth.enabled=false'),
    );
    expect(rendered.map(({ kind }) => kind).sort()).toEqual(['Service', 'StatefulSet']);
    expect(rendered.find(({ kind }) => kind === 'StatefulSet')).toMatchObject({
      metadata: { name: 'one-stepwright' },
      spec: {
        replicas: 1,
        volumeClaimTemplates: [{ metadata: { name: 'data' } }],
      },
    });
    expect(JSON.stringify(rendered)).not.toContain('secretRef');
  });
});
