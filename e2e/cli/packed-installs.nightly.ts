/**
 * Goal: the packages work however they are installed, on every Node that users have, and wherever their files are.
 * Method: starts the packed server on Node 20, 22 and 24, from its tarball by `npx`, from a global installation, and in a folder
 * that only root can read; each time a custom step and an expression run. Runs a test of `stepwright/testing` under jest.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createClient } from '@stepwright/sdk';
import { eventually } from '../../sdk/test/support/eventually.js';
import { Installation, PackedServer, succeed } from './packed.js';

const GREETING = `Id: greeting
Steps:
  - Id: greet
    StepType: shout
    Inputs: { text: '"Hello " + ", ".join([data.name])' }
    Outputs: { greeting: step.loud }
`;
const OPTIONS = ['--prefer-offline', '--no-audit', '--no-fund', '--silent'];
const JEST_TEST = `import { createTestServer } from 'stepwright/testing';

const definition = {
  Id: 'tea',
  Steps: [{ Id: 'wait', StepType: 'Delay', Inputs: { Period: '"3.00:00:00"' }, Outputs: { drunk: 'True' } }],
};

test('takes three days', async () => {
  await using server = await createTestServer({ definitions: [definition] });
  const { id } = await server.start('tea');
  await server.advance('3d');
  expect(await server.run(id)).toMatchObject({ status: 'Complete', data: { drunk: true } });
}, 60_000);
`;

let created: Installation | string;
let installation: Installation;
let count = 0;

beforeAll(() => {
  created = Installation.create();
});
afterAll(() => {
  if (typeof created !== 'string') created.remove();
});
beforeEach((test) => {
  if (typeof created === 'string') return test.skip(created);
  installation = created;
});

/** A folder beside the installation. */
function besides(name: string): string {
  const folder = path.join(path.dirname(installation.folder), name);
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** Installs packages into a folder of their own. */
function install(name: string, ...packages: readonly string[]): string {
  const folder = besides(name);
  writeFileSync(path.join(folder, 'package.json'), '{ "private": true, "type": "module" }');
  succeed('npm', ['install', ...OPTIONS, ...packages], folder);
  return folder;
}

/** The program, from the package that brings it. */
function nodeOf(version: string): string {
  return path.join(install(`node-${version}`, `node@${version}`), 'node_modules/node/bin/node');
}

const BIN = 'node_modules/stepwright/bin/stepwright.js';

/** Runs Python in both ways. @returns what the server has printed */
async function check(
  command: readonly string[],
  folder: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<{ readonly output: string; readonly isOneProcess: boolean }> {
  count += 1;
  const data = path.join(besides('data'), String(count));
  const server = new PackedServer(command, folder, { DATA_DIR: data, ...environment });
  const pids: number[] = [];
  try {
    const url = await server.url();
    await eventually(
      'Python is ready',
      async () => (await fetch(`${url}/health/ready`)).ok,
      120_000,
    );
    const client = createClient({ baseUrl: url });
    await client.steps.put('shout', 'loud = text.upper()\n');
    await client.definitions.register(GREETING);
    const run = await client.workflows.start('greeting', { name: 'Ada' });
    expect((await run.wait({ timeoutMs: 60_000 })).data['greeting']).toBe('HELLO ADA');
    for await (const { pid } of client.nodes.list()) pids.push(pid);
  } finally {
    await server.stop();
  }
  expect(server.output).not.toContain('did not start');
  return { output: server.output, isOneProcess: pids.includes(server.pid) };
}

describe('the package', () => {
  it.each(['22', '24'])('runs on Node %s, with the snapshot that it contains', async (version) => {
    const node = nodeOf(version);
    const { isOneProcess, output } = await check([node, BIN, 'start'], installation.folder);
    expect(isOneProcess).toBe(true);
    expect(output).not.toContain('created the snapshot');
    const snapshots = path.join(
      installation.folder,
      'node_modules/stepwright/dist/python-snapshots',
    );
    expect(readdirSync(snapshots)).toHaveLength(1);
  });

  it('brings its own Node where that of the machine is too old', async () => {
    const node = nodeOf('20');
    const { output } = await check([node, BIN, 'start'], installation.folder, {
      XDG_CACHE_HOME: besides('cache'),
    });
    expect(output).toContain('is too old for the server');
    // Python runs as a user without rights.
    const [downloaded = ''] = readdirSync(path.join(besides('cache'), 'stepwright'));
    const { mode } = statSync(path.join(besides('cache'), 'stepwright', downloaded));
    expect(mode & 0o777).toBe(0o755);
  });

  it('runs as a global installation', async () => {
    const folder = besides('global');
    succeed(
      'npm',
      ['install', '-g', '--prefix', folder, ...OPTIONS, ...installation.tarballs],
      folder,
    );
    await check([path.join(folder, 'bin/stepwright'), 'start'], besides('elsewhere'));
  });

  it('runs from its tarball by npx, with a folder that is live', async () => {
    const folder = besides('npx');
    mkdirSync(path.join(folder, 'flows'));
    writeFileSync(path.join(folder, 'flows/greeting.yaml'), GREETING);
    writeFileSync(path.join(folder, 'flows/shout.py'), 'loud = text.upper()\n');
    const tarball = installation.tarballs.find((file) => /stepwright-\d[^/]*$/.test(file)) ?? '';
    copyFileSync(tarball, path.join(folder, path.basename(tarball)));
    const command = ['npx', '--yes', `./${path.basename(tarball)}`, 'dev', './flows'];
    const server = new PackedServer(command, folder, { XDG_CACHE_HOME: besides('cache') });
    const url = await server.url();
    await server.says(/greeting\.yaml: registered, version 1$/m);
    const client = createClient({ baseUrl: url });
    const run = await client.workflows.start('greeting', { name: 'Ada' });
    expect((await run.wait({ timeoutMs: 60_000 })).data['greeting']).toBe('HELLO ADA');
    await server.stop();
    await expect(fetch(url)).rejects.toThrow();
  });

  it('needs no rights but to read its files', async (test) => {
    if (process.getuid?.() !== 0) return test.skip('only root can become another user');
    const command = ['setpriv', '--reuid=65533', '--regid=65533', '--clear-groups'];
    chmodSync(besides('data'), 0o777);
    await check([...command, nodeOf('24'), BIN, 'start'], installation.folder);
  });

  it('runs Python as root in a folder that only root can read, and says so', async (test) => {
    if (process.getuid?.() !== 0) return test.skip('only root hides files from itself');
    chmodSync(installation.folder, 0o700);
    const { output } = await check([process.execPath, BIN, 'start'], installation.folder);
    chmodSync(installation.folder, 0o755);
    expect(output).toContain('Python runs as root');
  });
});

it('names the required Node version when an old Node imports stepwright/testing', () => {
  const file = path.join(installation.folder, 'old.mjs');
  writeFileSync(file, "import 'stepwright/testing';\n");
  const { status, stderr } = spawnSync(nodeOf('20'), [file], { encoding: 'utf8' });
  expect({ status, stderr }).toEqual({
    status: 1,
    stderr: expect.stringMatching(/needs Node [\d.]+ or later, but this is Node 20/) as string,
  });
});

it('runs stepwright/testing under jest', () => {
  const folder = install('jest', 'jest@30', ...installation.tarballs);
  writeFileSync(path.join(folder, 'tea.test.js'), JEST_TEST);
  const jest = ['--experimental-vm-modules', 'node_modules/jest/bin/jest.js'];
  succeed(process.execPath, jest, folder);
});
