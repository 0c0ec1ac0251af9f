/** Workflows that offer work, and its results. */
import { createClient, type ClientOptions, type StepwrightClient } from '@stepwright/sdk';
import { ServerProcess } from '../../../sdk/test/support/server-process.js';

/** One activity with the name in the data; a failure is retried at once unless the definition says otherwise. */
const WORK = `
id: work
steps:
  - id: do
    stepType: Activity
    retryInterval: 0.1
    inputs:
      ActivityName: data.activity
      Parameters: data.parameters
    outputs:
      result: step.Result
`;

/** The same, but a failure ends the workflow. */
const WORK_ONCE = WORK.replace('id: work\n', 'id: work-once\ndefaultErrorBehavior: Terminate\n');

export interface Work {
  activity: string;
  parameters: unknown;
  result?: unknown;
}

export async function startWorkServer(): Promise<{
  server: ServerProcess;
  client: StepwrightClient;
}> {
  const server = await ServerProcess.start();
  const client = createClient({ baseUrl: server.url });
  await client.definitions.register(WORK);
  await client.definitions.register(WORK_ONCE);
  return { server, client };
}

/** Starts this many workflows, a few at a time, and returns their ids. */
export async function startWork(
  client: StepwrightClient,
  activity: string,
  count: number,
  definitionId: 'work' | 'work-once' = 'work',
): Promise<string[]> {
  const ids: string[] = [];
  let next = 0;
  const starter = async (): Promise<void> => {
    while (next < count) {
      const parameters = { number: next++ };
      const { id } = await client.workflows.start<Work>(definitionId, { activity, parameters });
      ids.push(id);
    }
  };
  await Promise.all(Array.from({ length: 16 }, starter));
  return ids;
}

/** Counts the calls of a client. */
export function countingFetch(): {
  readonly fetch: NonNullable<ClientOptions['fetch']>;
  readonly calls: string[];
} {
  const calls: string[] = [];
  return {
    calls,
    fetch: (request, init) => {
      calls.push(`${request.method} ${new URL(request.url).pathname}`);
      return fetch(request, init);
    },
  };
}

/** A log that stores its lines. */
export function keptLog(): {
  readonly lines: { readonly level: string; readonly message: string; readonly fields: unknown }[];
  readonly log: Record<
    'debug' | 'info' | 'warn' | 'error',
    (message: string, fields?: Readonly<Record<string, unknown>>) => void
  >;
} {
  const lines: { level: string; message: string; fields: unknown }[] = [];
  const level = (name: string) => (message: string, fields?: unknown) =>
    void lines.push({ level: name, message, fields });
  return {
    lines,
    log: { debug: level('debug'), info: level('info'), warn: level('warn'), error: level('error') },
  };
}
