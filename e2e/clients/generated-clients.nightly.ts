/**
 * Goal: clients for other languages can be generated from the OpenAPI document of a server, and work.
 * Method: each generator reads the document of a running server; its client is compiled, and runs the program that
 * docs/other-languages.md shows for it, while the worker of that page works. What a machine lacks is skipped, with the reason.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient } from '@stepwright/sdk';
import { fencedBlocks, hasWords } from '../../examples/test/support/fenced-blocks.ts';
import { startNode, type ServerNode } from '../environment/server-node.js';

const PAGE = readFileSync(new URL('../../docs/other-languages.md', import.meta.url), 'utf8');
const ADDRESS = 'http://127.0.0.1:5001';
const TOOL_TIMEOUT_MS = 540_000;
const EXPECTED = 'Complete r-250';

/** Versions that are known to work; renovate cannot see them. */
const OPENAPI_PYTHON_CLIENT = ['openapi-python-client==0.29.1', 'ruff==0.17.6'];
const OPENAPI_GENERATOR = 'openapi-generator-cli==7.26.0';
const OAPI_CODEGEN = 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2';
const HEY_API = ['@hey-api/openapi-ts@0.95.0', 'typescript@5.9.3', 'tsx@4.23.15'];

const root = mkdtempSync(path.join(tmpdir(), 'stepwright-clients-'));
const document = path.join(root, 'stepwright.json');
let server: ServerNode;
let worker: ChildProcess | null = null;

beforeAll(async () => {
  server = await startNode({ DATA_DIR: path.join(root, 'data') });
  const answer = await fetch(`${server.url}/openapi.json`);
  writeFileSync(document, await answer.text());
  const client = createClient({ baseUrl: server.url });
  await client.definitions.register(program('yaml', 'payment.yaml'));
  writeFileSync(path.join(root, 'worker.py'), program('python', 'worker'));
  if (missing('python3') === null) {
    worker = spawn('python3', [path.join(root, 'worker.py')], { stdio: 'inherit' });
  }
});

afterAll(async () => {
  worker?.kill();
  await server.stop();
  rmSync(root, { recursive: true, force: true });
});

/** A program of the page, for this server. */
function program(...words: readonly string[]): string {
  const block = fencedBlocks(PAGE).find((found) => hasWords(found, ...words));
  if (block === undefined) throw new Error(`The page has no block \`${words.join(' ')}\``);
  return `${block.text.replaceAll(ADDRESS, server.url)}\n`;
}

function folderFor(name: string): string {
  const folder = path.join(root, name);
  mkdirSync(folder);
  return folder;
}

/** Why these tools cannot run here; null: they can. */
function missing(...tools: readonly string[]): string | null {
  const absent = tools.filter((tool) => spawnSync(tool, ['--version']).error !== undefined);
  return absent.length === 0 ? null : `this machine has no ${absent.join(', ')}`;
}

interface Ran {
  readonly ok: boolean;
  readonly output: string;
}

function run(folder: string, command: string, args: readonly string[], environment = {}): Ran {
  const { error, signal, status, stderr, stdout } = spawnSync(command, args, {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, ...environment },
    timeout: TOOL_TIMEOUT_MS,
    maxBuffer: 2 ** 28,
  });
  const output = `${stdout}${stderr}${error?.message ?? ''}${signal ?? ''}`;
  return { ok: status === 0, output: `${command} ${args.join(' ')}\n${output}` };
}

/** @returns what the tool has printed */
function succeed(...call: Parameters<typeof run>): string {
  const { ok, output } = run(...call);
  expect(ok, output.slice(-5000)).toBe(true);
  return output;
}

/** Fetches tools from a registry. @returns why that is impossible here */
function fetchTools(...call: Parameters<typeof run>): string | null {
  const { ok, output } = run(...call);
  return ok ? null : `tools could not be installed: ${output.slice(-300)}`;
}

/** Packages of PyPI in an environment of their own. @returns its programs, or why there are none */
function pythonWith(folder: string, packages: readonly string[]): { bin: string } | string {
  const lacking = missing('python3');
  if (lacking !== null) return lacking;
  succeed(folder, 'python3', ['-m', 'venv', 'venv']);
  const bin = path.join(folder, 'venv/bin');
  return fetchTools(folder, `${bin}/pip`, ['install', '-q', ...packages]) ?? { bin };
}

/** The generator for Java, Go and others. */
function generatorIn(folder: string): { jar: string } | string {
  const lacking = missing('java');
  if (lacking !== null) return lacking;
  const python = pythonWith(folder, [OPENAPI_GENERATOR]);
  if (typeof python === 'string') return python;
  const found = succeed(folder, `${python.bin}/python`, [
    '-c',
    'import openapi_generator_cli, pathlib; print(next(pathlib.Path(openapi_generator_cli.__file__).parent.glob("*.jar")))',
  ]);
  return { jar: found.trim().split('\n').at(-1)! };
}

describe('a client generated from the OpenAPI document', { timeout: 1_800_000 }, () => {
  it('runs a workflow from Python (openapi-python-client)', ({ skip }) => {
    const folder = folderFor('python');
    const python = pythonWith(folder, OPENAPI_PYTHON_CLIENT);
    if (typeof python === 'string') return skip(python);
    const { bin } = python;
    const PATH = `${bin}:${process.env['PATH'] ?? ''}`;
    const generate = ['generate', '--path', document, '--output-path', 'client'];
    const said = succeed(folder, `${bin}/openapi-python-client`, generate, { PATH });
    // Only the script of a custom step has a body that this generator does not know.
    expect(said.match(/Endpoint will not be generated/g) ?? []).toHaveLength(1);
    succeed(folder, `${bin}/pip`, ['install', '-q', './client']);
    writeFileSync(path.join(folder, 'start.py'), program('python', 'start'));
    expect(succeed(folder, `${bin}/python`, ['start.py'])).toContain(EXPECTED);
  });

  it('runs a workflow from Go (oapi-codegen)', ({ skip }) => {
    const lacking = spawnSync('go', ['version']).error === undefined ? null : 'there is no go';
    if (lacking !== null) return skip(lacking);
    const folder = folderFor('go');
    const GOBIN = path.join(folder, 'bin');
    const unfetched = fetchTools(folder, 'go', ['install', OAPI_CODEGEN], { GOBIN });
    if (unfetched !== null) return skip(unfetched);
    mkdirSync(path.join(folder, 'stepwright'));
    const output = ['-package', 'stepwright', '-o', 'stepwright/stepwright.go', document];
    succeed(folder, `${GOBIN}/oapi-codegen`, ['-generate', 'types,client', ...output]);
    writeFileSync(path.join(folder, 'main.go'), program('go', 'start'));
    succeed(folder, 'go', ['mod', 'init', 'example.com/shop']);
    succeed(folder, 'go', ['mod', 'tidy']);
    succeed(folder, 'go', ['vet', './...']);
    expect(succeed(folder, 'go', ['run', '.'])).toContain(EXPECTED);
  });

  it('runs a workflow from Java (openapi-generator), and compiles in Go', ({ skip }) => {
    const lacking = missing('mvn');
    if (lacking !== null) return skip(lacking);
    const folder = folderFor('java');
    const generator = generatorIn(folder);
    if (typeof generator === 'string') return skip(generator);
    const tool = ['-jar', generator.jar];
    expect(succeed(folder, 'java', [...tool, 'validate', '--recommend', '-i', document])).toContain(
      'No validation issues detected',
    );
    const generate = [...tool, 'generate', '-i', document];
    succeed(folder, 'java', [...generate, '-g', 'java', '--library', 'native', '-o', 'client']);
    const sources = path.join(folder, 'client/src/main/java');
    writeFileSync(path.join(sources, 'Start.java'), program('java', 'start'));
    const client = path.join(folder, 'client');
    succeed(client, 'mvn', ['-q', '-B', '-DskipTests', '-Dmaven.javadoc.skip=true', 'compile']);
    const classPath = ['dependency:build-classpath', '-Dmdep.outputFile=classpath.txt'];
    succeed(client, 'mvn', ['-q', '-B', ...classPath]);
    const libraries = readFileSync(path.join(client, 'classpath.txt'), 'utf8').trim();
    const classes = `target/classes:${libraries}`;
    expect(succeed(client, 'java', ['-cp', classes, 'Start'])).toContain(EXPECTED);

    if (spawnSync('go', ['version']).error !== undefined) return;
    const names = ['--git-user-id', 'example', '--git-repo-id', 'stepwright'];
    const go = ['-g', 'go', '--additional-properties=enumClassPrefix=true', ...names];
    succeed(folder, 'java', [...generate, ...go, '-o', 'go']);
    rmSync(path.join(folder, 'go/test'), { recursive: true, force: true });
    succeed(path.join(folder, 'go'), 'go', ['mod', 'tidy']);
    succeed(path.join(folder, 'go'), 'go', ['build', './...']);
  });

  it('runs a workflow from TypeScript (Hey API)', ({ skip }) => {
    const folder = folderFor('typescript');
    writeFileSync(path.join(folder, 'package.json'), '{ "private": true, "type": "module" }');
    const unfetched = fetchTools(folder, 'npm', ['install', '--silent', '--no-audit', ...HEY_API]);
    if (unfetched !== null) return skip(unfetched);
    const bin = path.join(folder, 'node_modules/.bin');
    const generate = ['-i', document, '-o', 'stepwright', '-c', '@hey-api/client-fetch'];
    succeed(folder, `${bin}/openapi-ts`, generate);
    writeFileSync(path.join(folder, 'start.ts'), program('ts', 'start'));
    const strict = ['--noEmit', '--strict', '--target', 'es2022', '--module', 'preserve'];
    succeed(folder, `${bin}/tsc`, [...strict, '--moduleResolution', 'bundler', 'start.ts']);
    expect(succeed(folder, `${bin}/tsx`, ['start.ts'])).toContain(EXPECTED);
  });
});
