import { createClient, type ClientOptions, type StepwrightClient } from '../../src/index.js';
import { ALL_DEFINITIONS } from './definitions.js';
import { ServerProcess } from './server-process.js';

/** A server with the definitions from `definitions.ts`. */
export async function startServer(): Promise<{ server: ServerProcess; client: StepwrightClient }> {
  const server = await ServerProcess.start();
  const client = createClient({ baseUrl: server.url });
  for (const definition of ALL_DEFINITIONS) await client.definitions.register(definition);
  return { server, client };
}

/** Short delays, so that tests of retries are fast. */
export const QUICK_RETRY: NonNullable<ClientOptions['retry']> = { delayMs: 10, delayMsMax: 20 };
