/**
 * Functions shared by all scripts: the repository's root and files, and running tools. Called by: every other script.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = join(dirname(fileURLToPath(import.meta.url)), '..');

const SKIPPED_FOLDERS = new Set(['node_modules', 'dist', '.cache']);

/** Every file under a path, sorted; the path itself if it is a file; nothing if it does not exist. */
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

/** Runs a command, preferring development dependencies to system commands. Throws if it fails. */
export function runTool(tool, args, options = {}) {
  const result = spawnSync(tool, args, { ...toolOptions(), ...options });
  if (result.error) throw result.error;
  if (result.status !== 0) throw new ToolError(tool, result.status ?? 1);
}

/** Like `runTool`, but does not block the caller. A signal ends the tool. */
export function startTool(tool, args, { signal } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(tool, args, { ...toolOptions(), signal });
    child.once('error', reject);
    child.once('exit', (status) =>
      status === 0 ? resolve() : reject(new ToolError(tool, status ?? 1)),
    );
  });
}

/** The command and first arguments of the pnpm that runs this script; without one, the pnpm that npx provides. */
export function pnpmCommand() {
  const own = process.env['npm_execpath'] ?? '';
  if (!own.includes('pnpm')) return ['npx', '-y', 'pnpm@12'];
  return /\.[cm]?js$/.test(own) ? ['node', own] : [own];
}

function toolOptions() {
  const bin = join(root, 'node_modules/.bin');
  return {
    cwd: root,
    env: { ...process.env, PATH: `${bin}${delimiter}${process.env['PATH']}` },
    // Build output must not be mixed with the output of the command that triggered the build.
    stdio: ['ignore', process.stderr, 'inherit'],
  };
}

/** A tool failed and has already reported why. */
export class ToolError extends Error {
  constructor(tool, exitCode) {
    super(`${tool} failed with exit code ${exitCode}`);
    this.exitCode = exitCode;
  }
}

/** Whether the module is the script that was started, not an imported one. */
export function isMain(moduleUrl) {
  return process.argv[1] === fileURLToPath(moduleUrl);
}

/** Runs the main function of a script; a failed tool has already reported its error. */
export async function runMain(main) {
  try {
    await main();
  } catch (error) {
    console.error(error instanceof ToolError ? error.message : error);
    process.exitCode = 1;
  }
}
