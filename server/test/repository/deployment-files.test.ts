/**
 * Goal: the files in deploy/ and the Dockerfile work as they are.
 * Method: reads them as YAML and text; images are pinned, names that refer to each other match, and no port is
 * published beyond the machine without access control.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { SETTINGS } from '../../src/config/settings.js';
import { readPostgresAddress } from '../../src/postgres/address.js';

const ROOT = new URL('../../../', import.meta.url);
const PACKAGE = JSON.parse(readFileSync(new URL('package.json', ROOT), 'utf8')) as {
  readonly version: string;
  readonly devDependencies: { readonly node: string };
};
const VERSION = PACKAGE.version;

interface Manifest {
  readonly kind: string;
}

function read(path: string): string {
  return readFileSync(new URL(path, ROOT), 'utf8');
}

function readManifests(): readonly Manifest[] {
  return readdirSync(new URL('deploy/kubernetes/', ROOT)).flatMap((file) =>
    parseAllDocuments(read(`deploy/kubernetes/${file}`)).map((document) => {
      expect(document.errors, file).toEqual([]);
      return document.toJS() as Manifest;
    }),
  );
}

const manifests = readManifests();

/** The value at a path such as `spec.ports.0.name` of the only manifest of a kind. */
function valueIn(kind: string, path: string): unknown {
  const [manifest, ...others] = manifests.filter((each) => each.kind === kind);
  expect(others, kind).toEqual([]);
  let value: unknown = manifest;
  for (const name of path.split('.')) {
    expect(value, `${kind}: ${name} of ${path}`).toBeTypeOf('object');
    value = (value as Readonly<Record<string, unknown>>)[name];
  }
  expect(value, `${kind}: ${path}`).toBeDefined();
  return value;
}

interface Compose {
  readonly services: Record<
    string,
    {
      image: string;
      build?: string;
      ports?: string[];
      environment?: Record<string, string>;
      secrets?: string[];
      depends_on?: Record<string, { condition: string }>;
      healthcheck?: object;
    }
  >;
  readonly secrets?: Record<string, object>;
}

describe.each(['compose.yaml', 'compose-mongodb.yaml'])('deploy/%s', (file) => {
  const compose = parse(read(`deploy/${file}`), { merge: true }) as Compose;
  const services = Object.entries(compose.services);
  const nodes = services.filter(([name]) => name.startsWith('node'));

  it.each(services)('pins the image of %s', (_name, { image }) => {
    expect(image).toMatch(/^postgres:\d+\.\d+$|:\d+\.\d+\.\d+$/);
  });

  it('builds the image of this version once', () => {
    expect(nodes.map(([, { image }]) => image)).toEqual(nodes.map(() => `stepwright:${VERSION}`));
    expect(nodes.filter(([, { build }]) => build !== undefined)).toHaveLength(1);
  });

  it('publishes ports on the loopback address only, because there is no access control', () => {
    const ports = services.flatMap(([, service]) => service.ports ?? []);
    expect(ports).toHaveLength(3);
    for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:/);
  });

  it('starts the nodes when the database is healthy', () => {
    for (const [, { depends_on: needed = {} }] of nodes) {
      const healthy = Object.entries(needed).filter(
        ([, { condition }]) => condition === 'service_healthy',
      );
      expect(healthy).toHaveLength(1);
      for (const [name] of healthy) {
        expect(compose.services[name]).toHaveProperty('healthcheck');
      }
    }
  });

  it('sets settings that exist', () => {
    for (const [, { environment = {} }] of nodes) {
      expect(Object.keys(SETTINGS)).toEqual(expect.arrayContaining(Object.keys(environment)));
    }
  });
});

describe('a password in the Compose files', () => {
  it('is requested and given as a file with PostgreSQL', () => {
    const { secrets, services } = parse(read('deploy/compose.yaml'), { merge: true }) as Compose;
    expect(secrets).toEqual({ postgres_password: { environment: 'POSTGRES_PASSWORD' } });
    for (const service of Object.values(services)) {
      expect(service.secrets).toEqual(['postgres_password']);
      const files = Object.entries(service.environment ?? {}).filter(([name]) =>
        /password_file$/i.test(name),
      );
      expect(files.map(([, path]) => path)).toEqual(['/run/secrets/postgres_password']);
    }
    const { dbhost = '' } = services['node1']?.environment ?? {};
    expect(readPostgresAddress(dbhost)).toMatchObject({ password: null, user: 'stepwright' });
  });

  it('is requested with MongoDB', () => {
    const text = read('deploy/compose-mongodb.yaml');
    expect(text).toContain('mongodb://stepwright:${MONGO_PASSWORD:?');
    expect(text).toContain('redis://:${REDIS_PASSWORD:?');
  });
});

describe('the set of Kubernetes manifests', () => {
  const POD = 'spec.template.spec.containers.0';
  const [portName, labels] = [
    valueIn('Deployment', `${POD}.ports.0.name`),
    valueIn('Deployment', 'spec.template.metadata.labels'),
  ];

  it('runs the image of this version and sets its pull policy', () => {
    expect(valueIn('Deployment', `${POD}.image`)).toBe(`stepwright:${VERSION}`);
    expect(valueIn('Deployment', `${POD}.imagePullPolicy`)).toBe('IfNotPresent');
  });

  it('requires tokens, because the service is reachable from the cluster', () => {
    expect(valueIn('Deployment', `${POD}.env`)).toContainEqual({ name: 'auth', value: 'true' });
  });

  it('mounts the PostgreSQL password where the instructions say', () => {
    const mounts = valueIn('Deployment', `${POD}.volumeMounts`);
    expect(mounts).toContainEqual({
      name: 'postgres',
      mountPath: '/secrets/postgres',
      readOnly: true,
    });
    expect(read('deploy/kubernetes/stepwright.yaml')).toContain(
      'dbhost_password_file=/secrets/postgres/password',
    );
  });

  it('selects the pods by their labels', () => {
    expect(labels).toMatchObject(valueIn('Service', 'spec.selector') as object);
    expect(labels).toMatchObject(
      valueIn('NetworkPolicy', 'spec.podSelector.matchLabels') as object,
    );
    expect(valueIn('Service', 'metadata.labels')).toMatchObject(
      valueIn('ServiceMonitor', 'spec.selector.matchLabels') as object,
    );
  });

  it('refers to named ports that exist', () => {
    expect(valueIn('Service', 'spec.ports.0.targetPort')).toBe(portName);
    for (const rule of [0, 1]) {
      expect(valueIn('NetworkPolicy', `spec.ingress.${rule}.ports.0.port`)).toBe(portName);
    }
    const servicePort = valueIn('Service', 'spec.ports.0.name');
    expect(valueIn('ServiceMonitor', 'spec.endpoints.0.port')).toBe(servicePort);
    const backend = 'spec.rules.0.http.paths.0.backend.service.port.name';
    expect(valueIn('Ingress', backend)).toBe(servicePort);
  });
});

describe('the Dockerfile', () => {
  const dockerfile = read('Dockerfile');

  it('runs no Node process for the health check', () => {
    expect(dockerfile).toMatch(/HEALTHCHECK .*\\\n {2}CMD \["\/usr\/bin\/wget"/);
  });

  it('pins its base image to the Node version of the workspace', () => {
    expect(dockerfile).toContain(`BUILD_IMAGE=node:${PACKAGE.devDependencies.node}-`);
  });

  it('publishes no port beyond the machine in its instructions', () => {
    for (const text of [dockerfile, read('docs/deployment.md'), read('README.md')]) {
      expect(text).not.toMatch(/-p \d+:/);
    }
  });
});
