/** `client.stream`, with a real server over an unreliable network, and with servers that send scripted responses. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createClient, isApiError, isNetworkError, type Change } from '../src/index.js';
import type { StepwrightClient, StreamOptions } from '../src/index.js';
import { GREETING } from './support/definitions.js';
import { HttpAnswers, problem, reset, type Answer } from './support/http-answers.js';
import type { ServerProcess } from './support/server-process.js';
import { startServer } from './support/started-server.js';
import { TcpProxy } from './support/tcp-proxy.js';

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

/** What the loop has yielded so far, and how it ended. */
function follow(client: StepwrightClient, filter: StreamOptions = {}) {
  const leave = new AbortController();
  const changes: Change[] = [];
  const ended = (async () => {
    const { signal } = leave;
    for await (const change of client.stream({ ...filter, signal })) changes.push(change);
  })();
  ended.catch(() => undefined);
  onTestFinished(() => leave.abort());
  return { changes, ended, leave };
}

async function answering(...answers: readonly Answer[]): Promise<HttpAnswers> {
  const server = await HttpAnswers.start(...answers);
  onTestFinished(() => server.close());
  return server;
}

const events =
  (...blocks: readonly string[]): Answer =>
  (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(blocks.map((block) => `${block}\n\n`).join(''));
  };

describe('client.stream with a real server', () => {
  let server: ServerProcess;
  let proxy: TcpProxy;
  let client: StepwrightClient;
  beforeAll(async () => {
    ({ server } = await startServer());
    proxy = await TcpProxy.start(server.url);
    client = createClient({ baseUrl: proxy.url });
    await client.definitions.register(GREETING);
  });
  afterAll(async () => {
    await proxy.close();
    await server.remove();
  });

  /** Starts runs until one is reported: the client cannot tell when the server begins to listen. */
  const untilTold = async (changes: readonly Change[], from = 0): Promise<void> => {
    await expect
      .poll(
        async () => {
          await client.workflows.start('greeting', { name: 'Ada' });
          const told = changes.slice(from);
          return told.some((one) => one.type === 'workflow' && one.workflow.status === 'Complete');
        },
        { interval: 200 },
      )
      .toBe(true);
  };

  it('yields changes, reconnects after a network failure, and reports that changes may have been missed', async () => {
    const { changes, ended, leave } = follow(client, { definitionId: 'greeting' });
    await untilTold(changes);
    const before = changes.length;
    proxy.cut();
    await expect.poll(() => changes.slice(before)).toContainEqual({ type: 'lag' });
    await untilTold(changes, changes.length);
    leave.abort();
    await ended;
  });

  it('calls onConnection when it connects, disconnects and reconnects', async () => {
    const states: boolean[] = [];
    const leave = new AbortController();
    const ended = (async () => {
      const { signal } = leave;
      const onConnection = (isConnected: boolean): void => void states.push(isConnected);
      for await (const change of client.stream({ signal, onConnection }))
        expect(change).toBeTruthy();
    })();
    await expect.poll(() => states).toEqual([true]);
    proxy.cut();
    await expect.poll(() => states).toEqual([true, false, true]);
    leave.abort();
    await ended;
    expect(states).toEqual([true, false, true, false]);
  });

  it('starts with the current state of the followed workflow, on every connection', async () => {
    const handle = await client.workflows.start('greeting', { name: 'Ada' });
    await handle.result();
    const { changes, ended, leave } = follow(client, { workflowId: handle.id });
    const complete = { type: 'workflow', workflow: { workflowId: handle.id, status: 'Complete' } };
    await expect.poll(() => changes).toMatchObject([complete]);
    proxy.cut();
    await expect.poll(() => changes).toMatchObject([complete, { type: 'lag' }, complete]);
    leave.abort();
    await ended;
  });

  it('fails for a workflow that does not exist', async () => {
    const { ended } = follow(client, { workflowId: 'nothing' });
    const error: unknown = await ended.catch((reason: unknown) => reason);
    expect(isApiError(error, 'workflow_not_found')).toBe(true);
  });

  const listeners = async (): Promise<string | undefined> => {
    const text = await (await fetch(`${server.url}/metrics`)).text();
    return /^stepwright_change_listeners (\d+)$/m.exec(text)?.[1];
  };

  it('disconnects when the caller leaves the loop', async () => {
    const first = (async () => {
      for await (const change of client.stream()) return change;
      return null;
    })();
    await expect.poll(listeners).toBe('1');
    // A garbage-collected request does not pass on a signal, which had prevented programs from ending.
    collectGarbage();
    await client.definitions.register(GREETING);
    expect(await first).toMatchObject({ type: 'definition', id: 'greeting' });
    await expect.poll(listeners).toBe('0');
  });

  it('disconnects when the signal of the caller is aborted', async () => {
    const { ended, leave } = follow(client);
    await expect.poll(listeners).toBe('1');
    collectGarbage();
    leave.abort();
    await ended;
    await expect.poll(listeners).toBe('0');
  });
});

describe('client.stream with scripted responses', () => {
  it('reads events that arrive in pieces, and skips unknown ones', async () => {
    const server = await answering(
      events(
        'retry: 2000',
        ': nothing',
        'event: later\ndata: {}',
        'event: lag\ndata: {}',
        'event: x',
      ),
    );
    for await (const change of createClient({ baseUrl: server.url }).stream()) {
      expect(change).toEqual({ type: 'lag' });
      break;
    }
  });

  describe('the SSE parser', () => {
    const CHANGED = { type: 'workflow', workflow: { reference: 'Größe 🚀' } } as const;
    const EVENT = `event: workflow\ndata: ${JSON.stringify(CHANGED.workflow)}\n\n`;

    /** Reads the first two changes of a stream that arrives in these chunks. */
    async function firstTwo(chunks: readonly Uint8Array[]): Promise<readonly Change[]> {
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => chunks.forEach((chunk) => controller.enqueue(chunk)),
      });
      const headers = { 'content-type': 'text/event-stream' };
      const client = createClient({
        baseUrl: 'http://127.0.0.1:1',
        fetch: () => Promise.resolve(new Response(body, { headers })),
      });
      const changes: Change[] = [];
      for await (const change of client.stream()) if (changes.push(change) === 2) break;
      return changes;
    }
    const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
    const bytewise = (text: string): readonly Uint8Array[] =>
      Array.from(bytesOf(text), (byte) => Uint8Array.of(byte));
    const lag = 'event: lag\ndata: {}\n\n';

    it.each([
      ['lines that end with LF', EVENT + lag],
      ['lines that end with CRLF', (EVENT + lag).replaceAll('\n', '\r\n')],
      ['lines that end with CR', `${(EVENT + lag).replaceAll('\n', '\r')}: the next line\r`],
      ['data on several lines', EVENT.replace('data: {', 'data: {\ndata: ') + lag],
      ['data before the event name', EVENT.replace(/(event.*)\n(data.*)\n/, '$2\n$1\n') + lag],
      ['fields without a space after the colon', (EVENT + lag).replaceAll(': ', ':')],
      [
        'comments between and inside events',
        `: hello\n\n${EVENT.replace('\n', '\n: x\n')}:\n${lag}`,
      ],
      ['a byte order mark', `\uFEFF${EVENT}${lag}`],
    ])('accepts %s, in one chunk and byte by byte', async (_what, text) => {
      const expected = [CHANGED, { type: 'lag' }];
      expect(await firstTwo([bytesOf(text)])).toEqual(expected);
      // Byte by byte, chunks end inside characters and between CR and LF.
      expect(await firstTwo(bytewise(text))).toEqual(expected);
    });
  });

  it('sends a fresh token and the filter with each connection', async () => {
    const server = await answering(events('event: lag\ndata: {}'));
    let asked = 0;
    const client = createClient({ baseUrl: server.url, token: () => `token-${(asked += 1)}` });
    const { leave, ended } = follow(client, { definitionId: 'a b' });
    await expect.poll(() => server.seen.length).toBeGreaterThan(1);
    leave.abort();
    await ended;
    expect(server.seen[0]).toMatchObject({
      path: '/api/stream?definitionId=a+b',
      headers: { authorization: 'Bearer token-1', accept: 'text/event-stream' },
    });
    expect(server.seen[1]?.headers.authorization).toBe('Bearer token-2');
  });

  it.each([
    [401, 'unauthenticated'],
    [403, 'forbidden'],
    [404, 'route_not_found'],
  ])('fails on status %i without a retry', async (status, code) => {
    const server = await answering(problem(status, code));
    const error: unknown = await follow(createClient({ baseUrl: server.url })).ended.catch(
      (reason: unknown) => reason,
    );
    expect(isApiError(error, code)).toBe(true);
    expect(server.seen).toHaveLength(1);
  });

  it('retries while the server is overloaded', async () => {
    const server = await answering(problem(503, 'stopping'), events('event: lag\ndata: {}'));
    const { changes, leave } = follow(createClient({ baseUrl: server.url }));
    await expect.poll(() => changes.length).toBeGreaterThan(0);
    leave.abort();
  });

  it('gives up if it can never connect to the server', { timeout: 30_000 }, async () => {
    const server = await answering(reset);
    const error: unknown = await follow(createClient({ baseUrl: server.url })).ended.catch(
      (reason: unknown) => reason,
    );
    expect(isNetworkError(error)).toBe(true);
    expect(server.seen.length).toBeGreaterThan(1);
  });

  it('sends no request if its signal is already aborted', async () => {
    const server = await answering(reset);
    const signal = AbortSignal.abort();
    for await (const change of createClient({ baseUrl: server.url }).stream({ signal })) {
      expect.fail(change.type);
    }
    expect(server.seen).toEqual([]);
  });
});
