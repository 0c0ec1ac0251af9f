/** A server in its own process for one test, for start-up, logs and sudden death. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { SpawnedServer } from '../../support/spawned-server.js';

/** A folder for the embedded store, removed after the test. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'stepwright-process-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Starts the server and waits until it listens; the server ends after the test at the latest. */
export async function startProcess(
  environment: Readonly<Record<string, string>>,
): Promise<SpawnedServer> {
  const server = await SpawnedServer.start(environment);
  onTestFinished(() => server.kill());
  return server;
}
