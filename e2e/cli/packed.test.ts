/**
 * Goal: `stepwright` works from its tarball in a folder that has nothing else.
 * Method: packs all packages, installs them with npm into an empty folder outside the repository, and runs the command there,
 * the server, its folder that is live, the validator, and each command of its own tree in a pseudo-terminal and in pipes.
 */
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync, writeFileSync, mkdirSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createClient } from '@stepwright/sdk';
import {
  PLACES,
  registerDefinitions,
  TRIALS,
  WITHOUT_JSON,
  writeFiles,
  type Scene,
  type Trial,
} from './packed-commands.js';
import { Installation, type PackedServer } from './packed.js';

// A third is the Python snapshot.
const SIZE_MAX = 90e6;
const GREETING = `Id: greeting
Steps:
  - Id: greet
    StepType: shout
    Inputs:
      text: '"Hello " + data.name'
    Outputs:
      greeting: step.loud
`;
const SCRIPT = 'loud = text.upper()\n';
const BROKEN = GREETING.replace('data.name', 'data.');

let created: Installation | string;
let installation: Installation;

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

function write(name: string, text: string): string {
  const file = path.join(installation.folder, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

async function greet(url: string): Promise<unknown> {
  const client = createClient({ baseUrl: url });
  const handle = await client.workflows.start('greeting', { name: 'Ada' });
  const { data } = await handle.wait({ timeoutMs: 60_000 });
  return data['greeting'];
}

describe('the package', () => {
  it('takes at most 90 MB with everything it needs', () => {
    const folder = path.join(installation.folder, 'node_modules');
    const sizes = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) => {
      const found = statSync(path.join(folder, file));
      return found.isFile() ? found.size : 0;
    });
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(SIZE_MAX);
  });

  it('contains no sources, and names no package of the workspace', () => {
    const folder = path.join(installation.folder, 'node_modules/stepwright');
    expect(readdirSync(folder).filter((name) => name !== 'node_modules')).toEqual(
      expect.arrayContaining(['LICENSE', 'README.md', 'bin', 'dist', 'openapi', 'ui']),
    );
    expect(readdirSync(folder)).not.toContain('src');
    expect(readFileSync(path.join(folder, 'package.json'), 'utf8')).not.toContain('workspace:');
    expect(readdirSync(path.join(folder, 'dist/python-snapshots'))).toHaveLength(1);
  });
});

describe('stepwright', () => {
  it('prints its version and its commands', () => {
    const { version } = JSON.parse(
      readFileSync(path.join(installation.folder, 'node_modules/stepwright/package.json'), 'utf8'),
    ) as { readonly version: string };
    expect(installation.run(['--version'])).toMatchObject({ code: 0, stdout: `${version}\n` });
    const help = installation.run(['--help']);
    expect(help.code).toBe(0);
    for (const command of ['start', 'dev', 'validate', 'migrate-store']) {
      expect(help.stdout).toContain(`  ${command} `);
    }
    // Not a terminal: no colors.
    expect(help.stdout).not.toContain('\u001b');
  });

  it('ends with 2 after wrong arguments', () => {
    const { code, stderr } = installation.run(['stat']);
    expect(code).toBe(2);
    expect(stderr).toContain("unknown command 'stat'");
    expect(stderr).toContain('start');
  });

  it('passes the arguments of migrate-store on', () => {
    const { code, stderr } = installation.run(['migrate-store', '--from=sqlite:./none']);
    expect(code).toBe(2);
    expect(stderr).toContain('--to is missing');
  });
});

describe('stepwright start', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)('serves, runs, and stops on %s', async (signal) => {
    const server = installation.server(['start']);
    const url = await server.url();
    const client = createClient({ baseUrl: url });
    await client.steps.put('shout', SCRIPT);
    await client.definitions.register(GREETING);
    expect(await greet(url)).toBe('HELLO ADA');
    for (const file of ['ui/', 'swagger/swagger-ui-bundle.js', 'swagger/swagger-ui.css']) {
      expect((await fetch(`${url}/${file}`)).status, file).toBe(200);
    }
    await server.stop(signal);
    await expect(fetch(`${url}/health/ready`)).rejects.toThrow();
  });

  it('runs in the started process, without a wrapper', async () => {
    const server = installation.server(['start']);
    const url = await server.url();
    const pids: number[] = [];
    for await (const { pid } of createClient({ baseUrl: url }).nodes.list()) pids.push(pid);
    expect(pids).toContain(server.pid);
    expect(await server.stop()).toBe(0);
  });
});

/** Escape sequences of colors. */
const COLORS = /\u001b\[[\d;]*m/g;
const COLUMNS = 80;

describe('every command', () => {
  let server: PackedServer;
  let target: Server;
  let scenes: readonly Scene[];

  beforeAll(async () => {
    if (typeof created === 'string') return;
    target = createServer((request, response) => {
      request.resume();
      response.writeHead(204).end();
    });
    target.listen(0, '127.0.0.1');
    await once(target, 'listening');
    const { port } = target.address() as AddressInfo; // It listens on TCP.
    server = created.server(['start'], { DATA_DIR: path.join(created.folder, 'commands-data') });
    const url = await server.url();
    const client = createClient({ baseUrl: url });
    await registerDefinitions(client);
    const { folder } = created;
    scenes = PLACES.map((place) => {
      const own = path.join(folder, `commands-${place}`);
      return { place, client, url, folder: own, target: `http://127.0.0.1:${port}` };
    });
    for (const scene of scenes) writeFiles(scene);
  });
  afterAll(async () => {
    await server.stop();
    target.close();
    target.closeAllConnections();
  });

  it('is tried', async () => {
    const tree = await installation.commands();
    expect(TRIALS.map(({ command }) => command).toSorted()).toEqual(
      tree.map(({ command }) => command).toSorted(),
    );
    const withoutJson = tree.filter(({ options }) => !options.includes('--json'));
    expect(withoutJson.map(({ command }) => command).toSorted()).toEqual(WITHOUT_JSON.toSorted());
  });

  /** @returns what people see of it */
  async function call(trial: Trial, scene: Scene): Promise<string> {
    const { command, code = 0, stopAfter } = trial;
    const { folder, place, url } = scene;
    const line = installation.command({
      STEPWRIGHT_URL: url,
      XDG_CONFIG_HOME: path.join(folder, 'config'),
      PORT: '0',
      DATA_DIR: path.join(folder, 'data'),
    });
    const args = [...command.split(' '), ...((await trial.args?.(scene)) ?? [])];
    if (place === 'terminal') {
      const ending = stopAfter && { after: stopAfter, by: 'type' as const };
      const shown = await line.terminal(args, { columns: COLUMNS, ...(ending && { ending }) });
      expect(shown.code, shown.screen).toBe(code);
      return shown.screen;
    }
    if (place === 'json') args.push('--json');
    const ending = stopAfter && { after: stopAfter, by: 'SIGTERM' as const };
    const piped = await line.pipe(args, ending && { ending });
    expect(piped.code, piped.stdout + piped.stderr).toBe(code);
    return place === 'json' ? piped.stdout : piped.stdout + piped.stderr;
  }

  it.for(TRIALS)('behaves the same in a terminal and in a pipe: $command', async (trial) => {
    const { command, hasJsonLines, isPlain = false, isWide = false, shows } = trial;
    const places = scenes.filter(
      ({ place }) => place !== 'json' || !WITHOUT_JSON.includes(command),
    );
    const seen = await Promise.all(places.map((scene) => call(trial, scene)));
    const [screen = '', piped = '', json = '{}'] = seen;
    expect(screen.replaceAll(COLORS, '')).toMatch(shows);
    expect(screen.search(COLORS) < 0, 'without colors').toBe(isPlain);
    const lines = screen.replaceAll(COLORS, '').split('\n');
    if (!isWide) expect(lines.filter((line) => line.length > COLUMNS)).toEqual([]);
    expect(piped).toMatch(shows);
    // Neither colors nor anything else of a terminal.
    expect(piped + json).not.toContain('\u001b');
    for (const text of hasJsonLines === true ? json.trim().split('\n') : [json]) {
      expect(JSON.parse(text)).toBeInstanceOf(Object);
    }
  });
});

describe('stepwright validate', () => {
  it('accepts a folder, in which definitions use scripts', () => {
    write('good/greeting.yaml', GREETING);
    write('good/shout.py', SCRIPT);
    write('good/package.json', '{}');
    expect(installation.run(['validate', 'good'])).toMatchObject({
      code: 0,
      stdout: '',
      // npx may have printed a warning of its own before.
      stderr: expect.stringMatching(/^2 files, 0 errors, 0 warnings$/m) as string,
    });
  });

  it('shows where a problem is', () => {
    write('bad/greeting.yaml', BROKEN);
    write('bad/shout.py', SCRIPT);
    const { code, stderr, stdout } = installation.run(['validate', 'bad']);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^2 files, 1 error, 0 warnings$/m);
    expect(stdout).toMatch(/^bad\/greeting\.yaml:6:13: error: .*\n {2}6 \| {7}text: /);
    expect(stdout).toMatch(/\n {4}\| {13}\^\n/);
  });

  it('prints JSON and annotations', () => {
    write('unreadable/a.yaml', 'Id: [');
    const json = installation.run(['validate', '--json', 'unreadable']);
    expect(json.code).toBe(1);
    expect(JSON.parse(json.stdout)).toMatchObject({
      files: 1,
      problems: [{ file: 'unreadable/a.yaml', severity: 'error', line: 1 }],
    });
    const github = installation.run(['validate', '--github', 'unreadable/a.yaml']);
    expect(github.stdout).toMatch(/^::error file=unreadable\/a\.yaml,line=1,col=\d+,title=\S+::/);
  });

  it('ends with 1 if a file does not exist', () => {
    const { code, stderr } = installation.run(['validate', 'missing.yaml']);
    expect(code).toBe(1);
    expect(stderr).toContain('missing.yaml');
  });
});

describe('stepwright dev', () => {
  it('registers changed files, and keeps the last good version', async () => {
    write('live/shout.py', SCRIPT);
    const file = write('live/greeting.yaml', GREETING);
    const server = installation.server(['dev', 'live'], {
      DATA_DIR: path.join(installation.folder, 'live-data'),
    });
    const url = await server.url();
    await server.says(/greeting\.yaml: registered, version 1$/m);
    expect(await greet(url)).toBe('HELLO ADA');

    writeFileSync(file, BROKEN);
    await server.says(/greeting\.yaml:6:13: error: /);
    await server.says(/greeting\.yaml: not registered; the last valid version stays$/m);
    expect(await greet(url)).toBe('HELLO ADA');

    writeFileSync(file, GREETING);
    await server.says(/greeting\.yaml: unchanged$/m);
    writeFileSync(file, GREETING.replace('Hello', 'Bye'));
    await server.says(/greeting\.yaml: registered, version 2$/m);
    expect(await greet(url)).toBe('BYE ADA');

    write('live/later.yaml', GREETING.replace('greeting', 'later').replace('shout', 'whisper'));
    await server.says(/later\.yaml: not registered/);
    write('live/whisper.py', 'loud = text.lower()\n');
    await server.says(/later\.yaml: registered, version 1$/m);
    await server.stop();
  });
});
