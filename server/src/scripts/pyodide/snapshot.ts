/**
 * The memory of an interpreter that has booted and run runner.py: starting from it takes a fraction of a second instead
 * of three. It is created once for each version of Pyodide and of the runner, by the build or by the first start.
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
/** It takes seconds; on a busy machine that builds several things at once, minutes. */
const MAKE_DEADLINE_MS = 300_000;
const MAX_SNAPSHOT_BYTES = 256 * (1 << 20);

/**
 * The name depends on the content, so that a stale snapshot is never found. It does not depend on Node: the memory is that of
 * WebAssembly, which is the same everywhere, so a package contains a snapshot for every Node that can run it.
 */
export function defaultSnapshotPath(): string {
  const key = createHash('sha256')
    .update(`${readPyodideVersion(findPyodideFolder())}\0`)
    .update(readFileSync(RUNNER_PATH))
    .digest('hex');
  return join(findPackageFolder(), 'dist', 'python-snapshots', `${key.slice(0, 20)}.bin`);
}

/** The first request to every interpreter process. */
export function createBootRequest(
  limits: Pick<
    BootRequest,
    'memoryLimitBytes' | 'resultLimitBytes' | 'outputLimitBytes' | 'recursionMax' | 'environment'
  >,
  task: Pick<BootRequest, 'task' | 'snapshotPath'>,
): BootRequest {
  // Pyodide requires the trailing slash.
  const pyodideFolder = `${findPyodideFolder()}/`;
  return { ...limits, ...task, pyodideFolder, runnerPath: RUNNER_PATH, leaseMs: LEASE_MS };
}

/**
 * Creates the snapshot unless it exists. Several processes may do this at the same time.
 * @returns whether it was created now
 * @throws Error if it cannot be created or written
 */
export async function ensureSnapshot(path: string, signal: AbortSignal): Promise<boolean> {
  if (existsSync(path)) return false;
  // This comes first, because it may fail, and the rest takes seconds.
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
    const { result } = await maker.boot(request, signal, MAKE_DEADLINE_MS);
    writeWhole(path, result);
    return true;
  } finally {
    maker.kill('its snapshot is complete');
    await maker.waitForExit();
  }
}

/** No reader ever sees a partial file. */
function writeWhole(path: string, content: Buffer): void {
  const draft = `${path}.${randomUUID()}.tmp`;
  try {
    writeFileSync(draft, content);
    renameSync(draft, path);
  } finally {
    rmSync(draft, { force: true });
  }
}
