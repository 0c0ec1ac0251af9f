/**
 * The memory of an interpreter that has booted and run runner.py: starting from it takes a fraction of a second instead
 * of three. Made once for each Pyodide and runner, by the build or else by the first start.
 */
import { createHash, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { BootRequest } from './child-main.js';
import {
  createChildCommand,
  findPackageFolder,
  findPyodideFolder,
  RUNNER_PATH,
} from './child-command.js';
import { InterpreterProcess } from './interpreter-process.js';
import { readPyodideVersion } from './pyodide-module.js';

const LEASE_MS = 60_000;
const MAX_SNAPSHOT_BYTES = 256 * (1 << 20);

/** Names what is inside, so that a stale one is never found. */
export function defaultSnapshotPath(): string {
  const key = createHash('sha256')
    .update(`${readPyodideVersion(findPyodideFolder())}\0${process.version}\0`)
    .update(readFileSync(RUNNER_PATH))
    .digest('hex');
  return join(findPackageFolder(), 'dist', 'python-snapshots', `${key.slice(0, 20)}.bin`);
}

/** What every interpreter's process is told at first. */
export function createBootRequest(
  limits: Pick<
    BootRequest,
    'memoryLimitBytes' | 'resultLimitBytes' | 'outputLimitBytes' | 'recursionMax' | 'environment'
  >,
  task: Pick<BootRequest, 'task' | 'snapshotPath'>,
): BootRequest {
  // Pyodide wants the slash.
  const pyodideFolder = `${findPyodideFolder()}/`;
  return { ...limits, ...task, pyodideFolder, runnerPath: RUNNER_PATH, leaseMs: LEASE_MS };
}

/**
 * Makes the snapshot unless it is there. Several processes may do this at the same time.
 * @returns whether it was made now
 * @throws Error when it cannot be made or written
 */
export async function ensureSnapshot(path: string, signal: AbortSignal): Promise<boolean> {
  if (existsSync(path)) return false;
  // First, because it may fail, and the rest takes seconds.
  mkdirSync(dirname(path), { recursive: true });
  const command = createChildCommand(findPyodideFolder(), []);
  const maker = new InterpreterProcess(command, MAX_SNAPSHOT_BYTES);
  try {
    const limits = {
      memoryLimitBytes: 1 << 28,
      resultLimitBytes: 0,
      outputLimitBytes: 0,
      recursionMax: 1000,
    };
    const request = createBootRequest(
      { ...limits, environment: {} },
      { task: 'snapshot', snapshotPath: null },
    );
    const { result } = await maker.boot(request, signal);
    writeWhole(path, result);
    return true;
  } finally {
    maker.kill('its snapshot is made');
    await maker.waitForExit();
  }
}

/** Nobody ever sees half of a file. */
function writeWhole(path: string, content: Buffer): void {
  const draft = `${path}.${randomUUID()}.tmp`;
  try {
    writeFileSync(draft, content);
    renameSync(draft, path);
  } finally {
    rmSync(draft, { force: true });
  }
}
