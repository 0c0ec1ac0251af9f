/**
 * Build stages that run only when something they read has changed.
 *
 * A stage names its inputs (files and folders, relative to the repository). Their content is hashed, and a stamp in
 * `.cache/stamps/` remembers the hash that the last successful run saw. Content, not time: a branch switch there and back
 * builds nothing. A stage also runs when one of its outputs is missing, or, where `outputsAreInputs` is set, when an output
 * was changed by hand.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { spawn, spawnSync } from 'node:child_process';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = join(dirname(fileURLToPath(import.meta.url)), '..');

/** What every stage depends on: the compiler's settings and the exact versions of all packages. */
const SHARED_INPUTS = [
  'tsconfig.base.json',
  'pnpm-lock.yaml',
  'scripts/stage.mjs',
  'scripts/build.mjs',
];

const SKIPPED_FOLDERS = new Set(['node_modules', 'dist', '.cache']);

/** Every file under a path, sorted; the path itself if it is a file, nothing if it is not there. */
export function listFiles(path) {
  const absolute = join(root, path);
  if (!existsSync(absolute)) return [];
  const entries = readdirSyncOrNull(absolute);
  if (entries === null) return [path];
  return entries
    .filter((entry) => !SKIPPED_FOLDERS.has(entry.name))
    .flatMap((entry) => listFiles(`${path}/${entry.name}`))
    .sort();
}

function readdirSyncOrNull(absolute) {
  try {
    return readdirSync(absolute, { withFileTypes: true });
  } catch (error) {
    if (error.code === 'ENOTDIR') return null;
    throw error;
  }
}

function hashOf(paths) {
  const hash = createHash('sha256');
  for (const path of paths.flatMap(listFiles)) {
    const content = readFileSync(join(root, path));
    hash.update(`${path}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex');
}

/**
 * @param {object} stage
 * @param {string} stage.name
 * @param {string[]} stage.inputs
 * @param {string[]} stage.outputs files that exist after a successful run
 * @param {boolean} [stage.outputsAreInputs] run again when an output was changed by something else
 * @param {() => void | Promise<void>} stage.run throws when it fails
 */
export async function runStage({ name, inputs, outputs, outputsAreInputs = false, run }) {
  const stampFile = join(root, '.cache/stamps', `${name.replaceAll(' ', '-')}.txt`);
  const hashedInputs = [...SHARED_INPUTS, ...inputs];
  const stamp = () => hashOf(outputsAreInputs ? [...hashedInputs, ...outputs] : hashedInputs);
  const known = existsSync(stampFile) ? readFileSync(stampFile, 'utf8') : null;
  if (known === stamp() && outputs.every((output) => existsSync(join(root, output)))) return;

  const began = performance.now();
  // A stage that is interrupted must run again.
  rmSync(stampFile, { force: true });
  await run();
  mkdirSync(dirname(stampFile), { recursive: true });
  writeFileSync(stampFile, stamp());
  console.error(`built ${name} in ${((performance.now() - began) / 1000).toFixed(1)} s`);
}

/** Runs a command, a development dependency's before one of the machine, and throws when it fails. */
export function runTool(tool, args, options = {}) {
  const result = spawnSync(tool, args, { ...toolOptions(), ...options });
  if (result.error) throw result.error;
  if (result.status !== 0) throw new ToolError(tool, result.status ?? 1);
}

/** As `runTool`, while the caller goes on. */
export function startTool(tool, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(tool, args, toolOptions());
    child.once('error', reject);
    child.once('exit', (status) =>
      status === 0 ? resolve() : reject(new ToolError(tool, status ?? 1)),
    );
  });
}

function toolOptions() {
  const bin = join(root, 'node_modules/.bin');
  return {
    cwd: root,
    env: { ...process.env, PATH: `${bin}${delimiter}${process.env['PATH']}` },
    // What is built must not mix with what is printed by the command that needed it.
    stdio: ['ignore', process.stderr, 'inherit'],
  };
}

/** A tool failed and has said why. */
export class ToolError extends Error {
  constructor(tool, exitCode) {
    super(`${tool} failed with exit code ${exitCode}`);
    this.exitCode = exitCode;
  }
}

/** Whether the module is the script that was started, not one that was imported. */
export function isMain(moduleUrl) {
  return process.argv[1] === fileURLToPath(moduleUrl);
}

/** Runs the main function of a script; a failed tool has explained itself already. */
export async function runMain(main) {
  try {
    await main();
  } catch (error) {
    console.error(error instanceof ToolError ? error.message : error);
    process.exitCode = 1;
  }
}
