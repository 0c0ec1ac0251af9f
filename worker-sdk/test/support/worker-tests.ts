/** The server that the tests of workers in one file share, and helpers that run a worker with it. */
import type { StepwrightClient } from '@stepwright/sdk';
import { afterAll, beforeAll } from 'vitest';
import type { ServerProcess } from '../../../sdk/test/support/server-process.js';
import type { Worker } from '../../src/index.js';
import { keptLog, startWorkServer, type Work } from './work.js';

/** A log that discards its lines. */
export const quiet = keptLog().log;

/** Runs a worker for as long as the test needs it. */
export async function during<T>(worker: Worker, body: () => Promise<T>): Promise<T> {
  const running = worker.run();
  try {
    return await body();
  } finally {
    await worker.stop({ graceMs: 0 });
    await running;
  }
}

/** Starts a server before the tests of a file and removes it after them. */
export function workServer() {
  let server: ServerProcess;
  let client: StepwrightClient;

  beforeAll(async () => {
    ({ server, client } = await startWorkServer());
  });
  afterAll(async () => {
    await server.remove();
  });

  return {
    /** Only while tests run. */
    get server() {
      return server;
    },
    /** Only while tests run. */
    get client() {
      return client;
    },
    start: (name: string, parameters: unknown = {}, definition = 'work-once') =>
      client.workflows.start<Work>(definition, { activity: name, parameters }),
  };
}
