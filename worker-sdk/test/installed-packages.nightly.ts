/**
 * Both packages as users get them: packed by npm, installed by npm into an empty folder outside the workspace, and used
 * there on the Node.js version of the machine, by ECMAScript modules, by CommonJS and by strict TypeScript. No registry
 * is used.
 */
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ServerProcess } from '../../sdk/test/support/server-process.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Their dependencies other than each other. */
const DEPENDENCIES = ['eventsource-parser', 'ky', '@standard-schema/spec'];
/** Without the Node.js version of this repository, so that `node` is that of the machine. */
const PATH = (process.env['PATH'] ?? '')
  .split(delimiter)
  .filter((folder) => !folder.includes('node_modules'))
  .join(delimiter);

const DEFINITION = `
id: installed
steps:
  - id: double
    stepType: Activity
    inputs:
      ActivityName: '"double"'
      Parameters:
        '@number': data.number
    outputs:
      result: step.Result
`;

const BODY = `
const client = createClient({ baseUrl: process.argv[2] });
async function main() {
  await client.definitions.register(${JSON.stringify(DEFINITION)});
  const worker = new Worker({ client, activities: { double: ({ number }) => number * 2 } });
  const running = worker.run();
  const handle = await client.workflows.start('installed', { number: 21 });
  const { status, data } = await handle.wait({ timeoutMs: 20_000 });
  await worker.stop();
  await running;
  console.log(status, data.result);
}
main();
`;

const IMPORTS = `import { createClient } from '@stepwright/sdk';
import { Worker } from '@stepwright/worker-sdk';
`;
const REQUIRES = `const { createClient } = require('@stepwright/sdk');
const { Worker } = require('@stepwright/worker-sdk');
`;

const TYPED = `import { createClient, type StepwrightClient } from '@stepwright/sdk';
import { ActivityFailure, defineActivities, activity, Worker } from '@stepwright/worker-sdk';

const activities = defineActivities({ double: activity<{ number: number }, number>() });
const client = createClient({ baseUrl: 'http://127.0.0.1:5001', activities });
export const same: StepwrightClient<typeof activities> = client;
export const worker = new Worker({
  client,
  activities: {
    double: ({ number }) => {
      if (number < 0) throw new ActivityFailure('a number from 0 is needed');
      return number * 2;
    },
  },
});
export async function run(): Promise<string> {
  const handle = await client.workflows.start('installed', { number: 21 });
  return (await handle.wait()).status;
}
`;

let folder: string;
let server: ServerProcess;

function run(command: string, args: readonly string[], cwd = folder): string {
  return execFileSync(command, args, {
    cwd,
    encoding: 'utf8',
    env: { ...process.env, PATH },
    stdio: 'pipe',
  });
}

beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'stepwright-installed-')));
  // Copies: equal files are hard links in pnpm's store, and npm packs the second name of a file as empty.
  const copies = join(folder, 'dependencies');
  const dependencies = DEPENDENCIES.map((name) => {
    const copy = join(copies, name);
    cpSync(realpathSync(join(ROOT, 'sdk/node_modules', name)), copy, { recursive: true });
    return copy;
  });
  for (const path of [join(ROOT, 'sdk'), join(ROOT, 'worker-sdk'), ...dependencies]) {
    run('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], path);
  }
  rmSync(copies, { recursive: true });
  const tarballs = readdirSync(folder).map((file) => `./${file}`);
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
  run('npm', ['install', '--offline', '--no-audit', '--no-fund', ...tarballs]);
  server = await ServerProcess.start();
});
afterAll(async () => {
  await server.remove();
  rmSync(folder, { recursive: true, force: true });
});

describe('the set of packages, packed and installed by npm,', () => {
  it('contains its dependencies and license, and nothing from the workspace', () => {
    const installed = join(folder, 'node_modules', '@stepwright');
    expect(readdirSync(installed).sort()).toEqual(['sdk', 'worker-sdk']);
    for (const name of ['sdk', 'worker-sdk']) {
      expect(readdirSync(join(installed, name)).sort()).toEqual(
        ['CHANGELOG.md', 'LICENSE', 'README.md', 'dist', 'package.json', 'src'].sort(),
      );
      expect(readFileSync(join(installed, name, 'package.json'), 'utf8')).not.toContain(
        '"workspace:',
      );
    }
    // The worker would not recognize a client from a second copy of the SDK.
    expect(readdirSync(join(installed, 'worker-sdk'))).not.toContain('node_modules');
  });

  it.each([
    ['app.mjs', IMPORTS],
    ['app.cjs', REQUIRES],
  ])('completes a workflow in %s', (file, head) => {
    writeFileSync(join(folder, file), head + BODY);
    expect(run('node', [file, server.url])).toBe('Complete 42\n');
  });

  it.each([
    ['app.mts', 'NodeNext'],
    ['app.cts', 'NodeNext'],
    ['app.mts', 'Preserve'],
  ])('fulfills strict TypeScript in %s with module %s', (file, module) => {
    writeFileSync(join(folder, file), TYPED);
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
    const options = ['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess'];
    const libraries = ['--target', 'ES2022', '--lib', 'ES2022,DOM', '--skipLibCheck', 'false'];
    const output = (() => {
      try {
        return run('node', [tsc, '--noEmit', '--module', module, ...options, ...libraries, file]);
      } catch (error) {
        return (error as { readonly stdout: string }).stdout; // The output of the compiler.
      }
    })();
    expect(output).toBe('');
  });
});

describe('the Node.js version check', () => {
  const imports = (
    version: string,
  ): { readonly status: number | null; readonly stderr: string } => {
    const pretend = `Object.defineProperty(process.versions, 'node', { value: '${version}' })`;
    const args = ['--import', `data:text/javascript,${encodeURIComponent(pretend)}`, 'import.mjs'];
    writeFileSync(join(folder, 'import.mjs'), `import '@stepwright/worker-sdk';`);
    try {
      run('node', args);
      return { status: 0, stderr: '' };
    } catch (error) {
      return error as { readonly status: number; readonly stderr: string }; // The process ended with an error.
    }
  };

  it.each(['18.20.8', '20.2.0'])(
    'rejects Node.js %s at import and names the required version',
    (version) => {
      const { status, stderr } = imports(version);
      expect(status).toBe(1);
      expect(stderr).toContain(
        `The Stepwright SDK requires Node 20.3 or later, but this is Node ${version}.`,
      );
    },
  );

  it.each(['20.3.0', '22.0.0', '24.1.0'])('accepts Node.js %s', (version) => {
    expect(imports(version).status).toBe(0);
  });

  it.each(['sdk', 'worker-sdk'])('matches the engines field in the package.json of %s', (name) => {
    const text = readFileSync(join(ROOT, name, 'package.json'), 'utf8');
    const { engines, version } = JSON.parse(text) as Record<string, unknown>;
    expect(engines).toEqual({ node: '>=20.3' });
    const { dependencies } = JSON.parse(
      readFileSync(join(ROOT, 'worker-sdk/package.json'), 'utf8'),
    ) as { readonly dependencies: Readonly<Record<string, string>> };
    expect(dependencies['@stepwright/sdk']).toBe(version);
  });
});
