/**
 * Fills the memory of a server, for the tests of its memory budget: many runs with large data, one large event for all
 * of them, many large bodies and responses at once.
 *
 * Calls are made a few at a time and repeated after 429 and 503, as clients do.
 */
import { setTimeout } from 'node:timers/promises';
import { SpawnedServer } from '../../support/spawned-server.js';

/** The heap size that Node gives a server in a container of this size: half of it. */
export const CONTAINERS = [
  { container: '512 MB', heapMb: 256 },
  { container: '1 GiB', heapMb: 512 },
] as const;

/** How long callers retry before they give up. */
const PATIENCE_MS = 300_000;
const AT_ONCE = 16;

export interface AttackTarget {
  readonly url: string;
}

export interface Answer {
  readonly status: number;
  readonly text: string;
}

export interface LimitedServer {
  readonly server: SpawnedServer;
  /** Ends the server, suddenly or gracefully, and restarts it on the same store. */
  restart(end: 'kill' | 'stop'): Promise<void>;
}

export interface LimitedServerOptions {
  readonly folder: string;
  readonly heapMb: number;
  readonly settings?: Readonly<Record<string, string>>;
}

/** A server with a small heap, ended afterwards. @throws Error if it died in the meantime */
export async function withLimitedServer(
  { folder, heapMb, settings = {} }: LimitedServerOptions,
  use: (at: LimitedServer) => Promise<void>,
): Promise<void> {
  const start = (): Promise<SpawnedServer> =>
    SpawnedServer.start(
      { PORT: '0', DATA_DIR: folder, LOG_LEVEL: 'warn', ...settings },
      { nodeOptions: [`--max-old-space-size=${heapMb}`] },
    );
  let server = await start();
  const at = {
    get server() {
      return server;
    },
    async restart(end: 'kill' | 'stop') {
      await server[end]();
      server = await start();
    },
  };
  try {
    await use(at);
    if (!server.isRunning) throw new Error(`the server has died:\n${server.output.slice(-3000)}`);
  } finally {
    await server.kill();
  }
}

/** JSON text of about this many characters, consisting of small objects: the most expensive kind of text. */
export function smallObjects(length: number, piece = '{}'): string {
  return `[${`${piece},`.repeat(Math.floor(length / (piece.length + 1)))}0]`;
}

/** One call; status 0: the connection broke. */
export async function call(
  { url }: AttackTarget,
  method: string,
  path: string,
  body?: string,
): Promise<Answer> {
  try {
    const response = await fetch(url + path, {
      method,
      ...(body !== undefined && { body, headers: { 'content-type': 'application/json' } }),
    });
    return { status: response.status, text: await response.text() };
  } catch {
    return { status: 0, text: '' };
  }
}

/** Repeats the call while the server is overloaded or unavailable. */
export async function callUntilAccepted(...args: Parameters<typeof call>): Promise<Answer> {
  const until = performance.now() + PATIENCE_MS;
  for (;;) {
    const answer = await call(...args);
    const isRefused = [0, 429, 503].includes(answer.status);
    if (!isRefused || performance.now() > until) return answer;
    await setTimeout(100);
  }
}

/** Does this many things, a few at a time. */
export async function inParallel<Result>(
  count: number,
  act: (index: number) => Promise<Result>,
  atOnce = AT_ONCE,
): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < count) {
      const index = next;
      next += 1;
      results[index] = await act(index);
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, count) }, lane));
  return results;
}

/** Waits for an event, and stores none of its data. */
export const WAITING = {
  Id: 'waiting',
  Steps: [
    {
      Id: 'wait',
      StepType: 'WaitFor',
      Inputs: { EventName: "'go'", EventKey: 'data.key' },
      Outputs: { got: 'True' },
    },
  ],
};

/** Waits for an event, stores its data, and waits for another one. */
export const KEEPING = {
  Id: 'keeping',
  Steps: [
    {
      Id: 'wait',
      StepType: 'WaitFor',
      Inputs: { EventName: "'load'", EventKey: 'data.key' },
      Outputs: { got: 'step.EventData' },
      NextStepId: 'end',
    },
    {
      Id: 'end',
      StepType: 'WaitFor',
      Inputs: { EventName: "'end'", EventKey: 'data.key' },
      Outputs: { got: 'None' },
    },
  ],
};

/** Waits for nothing. */
export const UNRELATED = {
  Id: 'unrelated',
  Steps: [
    { Id: 'a', StepType: 'Delay', Inputs: { Period: "'PT0.1S'" }, NextStepId: 'b' },
    { Id: 'b', StepType: 'NoOp', Outputs: { done: 'True' } },
  ],
};

export async function define(server: AttackTarget, definition: object): Promise<void> {
  const answer = await callUntilAccepted(
    server,
    'POST',
    '/api/definition',
    JSON.stringify(definition),
  );
  if (answer.status >= 300) throw new Error(`${answer.status} ${answer.text}`);
}

/** Starts this many runs of a definition, which wait for events with the key `k`, with this JSON text in their data. */
export async function startRuns(
  server: AttackTarget,
  count: number,
  { definitionId, load }: { readonly definitionId: string; readonly load: string },
): Promise<string[]> {
  return inParallel(count, async () => {
    const body = `{"key":"k","load":${load}}`;
    const { status, text } = await callUntilAccepted(
      server,
      'POST',
      `/api/workflow/${definitionId}`,
      body,
    );
    if (status !== 201) throw new Error(`a start returned ${status} ${text.slice(0, 500)}`);
    return (JSON.parse(text) as { workflowId: string }).workflowId;
  });
}

/** Waits until this many runs of a definition have succeeded. */
export async function untilComplete(
  server: AttackTarget,
  definitionId: string,
  count: number,
): Promise<void> {
  const until = performance.now() + PATIENCE_MS;
  for (;;) {
    const complete = await countComplete(server, definitionId);
    if (complete === count) return;
    if (performance.now() > until) throw new Error(`${complete} of ${count} runs have ended`);
    await setTimeout(200);
  }
}

/** The number of these runs that have succeeded. */
export async function countComplete(server: AttackTarget, definitionId: string): Promise<number> {
  let count = 0;
  for (let cursor = ''; ;) {
    const path = `/api/workflow?definitionId=${definitionId}&status=Complete&limit=500${cursor}`;
    const { status, text } = await callUntilAccepted(server, 'GET', path);
    if (status !== 200) throw new Error(`${status} ${text.slice(0, 500)}`);
    const page = JSON.parse(text) as { items: unknown[]; nextCursor: string | null };
    count += page.items.length;
    if (page.nextCursor === null) return count;
    cursor = `&cursor=${encodeURIComponent(page.nextCursor)}`;
  }
}

/** Milliseconds from start to end of an unrelated run. */
export async function unrelatedRunMs(server: AttackTarget): Promise<number> {
  const began = performance.now();
  const started = await callUntilAccepted(server, 'POST', '/api/workflow/unrelated', '{}');
  const { workflowId } = JSON.parse(started.text) as { workflowId?: string };
  const ended = await callUntilAccepted(server, 'GET', `/api/workflow/${workflowId ?? ''}?wait=60`);
  if (!ended.text.includes('"Complete"')) throw new Error(`${started.text} ${ended.text}`);
  return performance.now() - began;
}
