#!/usr/bin/env node
/**
 * The command `stepwright`, on whichever Node it is started with. It must parse on Node 14, so that a Node that is too old
 * gets an answer, too.
 *
 * If that Node can run the server, this process becomes it: nothing stays beside it. If not, this process finds a newer
 * Node, runs the command there and passes signals on: STEPWRIGHT_NODE (a path), the npm package `node` installed beside
 * this one, or one that npm downloads once into the cache folder of the user.
 */
import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const { engines, bundledNode } = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
);
const NEEDED = engines.node.replace('>=', '');
const PROGRAM = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));
const FILE = process.platform === 'win32' ? 'bin/node.exe' : 'bin/node';

if (isRecent(process.versions.node)) await import('../dist/cli/main.js');
else runOn(findNode());

function isRecent(version) {
  const [major, minor = 0] = version.split('.').map(Number);
  const [neededMajor, neededMinor = 0] = NEEDED.split('.').map(Number);
  return major > neededMajor || (major === neededMajor && minor >= neededMinor);
}

function findNode() {
  const named = process.env['STEPWRIGHT_NODE'];
  if (named) return named;
  try {
    const manifest = createRequire(import.meta.url).resolve('node/package.json');
    const { version } = JSON.parse(readFileSync(manifest, 'utf8'));
    const installed = join(dirname(manifest), FILE);
    if (isRecent(version) && existsSync(installed)) return installed;
  } catch {
    // It is not installed.
  }
  return downloadedNode();
}

/** The package of npm that holds the Node of this platform; it has no install script. */
function downloadedNode() {
  const cache = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  const folder = join(cache, 'stepwright', `node-${bundledNode}`);
  const platform = process.platform === 'win32' ? 'win' : process.platform;
  const name = `node-${platform}-${process.arch}`;
  const file = join(folder, 'node_modules', name, FILE);
  if (existsSync(file)) return file;
  process.stderr.write(
    `stepwright: Node ${process.versions.node} is too old for the server, which needs ${NEEDED} or later. ` +
      `Node ${bundledNode} is downloaded once to ${folder}\n`,
  );
  mkdirSync(dirname(folder), { recursive: true });
  // Another process may do the same: each downloads into a folder of its own, and the first one wins.
  const draft = mkdtempSync(`${folder}-`);
  try {
    install(`${name}@${bundledNode}`, draft);
    // Started by root, the server runs Python as a user without rights.
    chmodSync(draft, 0o755);
    renameSync(draft, folder);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    if (!existsSync(file)) fail(error);
  }
  return file;
}

function install(wanted, folder) {
  const options = ['--prefix', folder, '--no-save', '--no-audit', '--no-fund', '--ignore-scripts'];
  const result = spawnSync('npm', ['install', ...options, wanted], {
    shell: process.platform === 'win32',
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (result.error) throw result.error;
  if (result.status !== 0) throw new Error(`npm ended with exit code ${result.status}`);
}

function fail(error) {
  process.stderr.write(
    `stepwright: Node ${bundledNode} could not be downloaded: ${error.message}. Install Node ${NEEDED} or later, ` +
      'or name one with STEPWRIGHT_NODE\n',
  );
  process.exit(1);
}

function runOn(node) {
  // The command ends when this process is gone, even if it was killed.
  const env = { ...process.env, STEPWRIGHT_LAUNCHER: String(process.pid) };
  const child = spawn(node, [PROGRAM, ...process.argv.slice(2)], { env, stdio: 'inherit' });
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) {
    // In a terminal, the child receives SIGINT and SIGHUP itself.
    process.on(signal, () => {
      if (signal === 'SIGTERM' || !process.stdin.isTTY) child.kill(signal);
    });
  }
  child.once('error', (error) => {
    process.stderr.write(`stepwright: ${node} could not be started: ${error.message}\n`);
    process.exit(1);
  });
  child.once('exit', (code) => process.exit(code ?? 1));
}
