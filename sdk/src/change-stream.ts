/** The server-sent events of `/api/stream` as an async iterable that reconnects automatically. */
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import type { ChangedWorkflow } from './api-types.js';
import { isApiError, isNetworkError } from './errors.js';
import { pause } from './pause.js';
import { TEMPORARY_STATUSES } from './retry-policy.js';
import type { Transport } from './transport.js';

/** A change on the server. */
export type Change =
  /** A run was started, has advanced, or was suspended, resumed or terminated. */
  | { readonly type: 'workflow'; readonly workflow: ChangedWorkflow }
  /** A definition has a new version. */
  | { readonly type: 'definition'; readonly id: string; readonly version: number }
  /** Changes may have been missed: reload what you display. */
  | { readonly type: 'lag' };

/** Which changes to follow. The default is all changes. */
export interface StreamOptions {
  /** Only this run. Each connection then starts with the current state of the run, so that no change is missed. */
  readonly workflowId?: string;
  /** Only this definition and its runs. */
  readonly definitionId?: string;
  /** Ends the iteration. */
  readonly signal?: AbortSignal;
  /**
   * Called with true after the stream has connected or reconnected, and with false after it has disconnected.
   */
  readonly onConnection?: (isConnected: boolean) => void;
}

/** The server sends at least a comment every 15 seconds, so a connection that stays silent this long is dead. */
const SILENCE_MS_MAX = 45_000;
const PAUSE_MS_MIN = 500;
const PAUSE_MS_MAX = 10_000;
/** The maximum number of attempts for the first connection. Reconnecting has no limit. */
const FIRST_ATTEMPTS = 5;

/** Ends when the signal is aborted or the caller leaves the loop. @throws errors that a retry cannot fix */
export async function* followChanges(
  transport: Transport,
  { signal, onConnection, ...filter }: StreamOptions,
): AsyncGenerator<Change, void, undefined> {
  let hasConnected = false;
  let failures = 0;
  while (!isAborted(signal)) {
    const connection = new AbortController();
    let isConnected = false;
    let reader: ReadableStreamDefaultReader<Uint8Array> | null = null;
    // Cancels the body, too: a request does not pass its signal on once it has been garbage-collected.
    const hangUp = (): void => {
      connection.abort();
      reader?.cancel().catch(() => undefined);
    };
    signal?.addEventListener('abort', hangUp);
    try {
      reader = (await transport.open('/api/stream', filter, connection.signal)).getReader();
      const isFirst = !hasConnected;
      hasConnected = true;
      isConnected = true;
      failures = 0;
      onConnection?.(true);
      // Changes between two connections are lost.
      if (!isFirst) yield { type: 'lag' };
      // Read the state after connecting, so that no change is missed in between.
      if (filter.workflowId !== undefined)
        yield await current(transport, filter.workflowId, signal);
      yield* readChanges(reader, hangUp);
    } catch (error) {
      failures += 1;
      const isFatal = !isTemporary(error) || (!hasConnected && failures >= FIRST_ATTEMPTS);
      if (isFatal && !isAborted(signal)) throw error;
    } finally {
      signal?.removeEventListener('abort', hangUp);
      hangUp();
      if (isConnected) onConnection?.(false);
    }
    const pauseMs = Math.min(PAUSE_MS_MIN * 2 ** Math.max(failures - 1, 0), PAUSE_MS_MAX);
    await pause(pauseMs * (0.5 + Math.random() / 2), signal);
  }
}

async function current(
  transport: Transport,
  workflowId: string,
  signal: AbortSignal | undefined,
): Promise<Change> {
  const workflow = await transport.call(
    'get',
    '/api/workflow/{id}',
    { path: { id: workflowId }, query: {}, repeatable: 'always', subject: { workflowId } },
    { signal },
  );
  return { type: 'workflow', workflow };
}

async function* readChanges(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  hangUp: () => void,
): AsyncGenerator<Change, void, undefined> {
  const decoder = new TextDecoder();
  const messages: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (message) => messages.push(message) });
  for (;;) {
    const silence = setTimeout(hangUp, SILENCE_MS_MAX);
    // A broken connection is handled like one that ended: the next connection reports the gap.
    const { done, value } = await reader
      .read()
      .catch(() => ({ done: true, value: undefined }))
      .finally(() => clearTimeout(silence));
    if (done) return;
    parser.feed(decoder.decode(value, { stream: true }));
    for (const message of messages.splice(0)) {
      const change = changeOf(message);
      if (change !== null) yield change;
    }
  }
}

/** Null for an event of an unknown type, which a newer server may send. */
function changeOf({ data, event: type }: EventSourceMessage): Change | null {
  if (type === 'lag') return { type };
  // The data of these events has these types.
  if (type === 'workflow') return { type, workflow: JSON.parse(data) as ChangedWorkflow };
  if (type !== 'definition') return null;
  const { id, version } = JSON.parse(data) as { readonly id: string; readonly version: number };
  return { type, id, version };
}

function isTemporary(error: unknown): boolean {
  if (isApiError(error)) return TEMPORARY_STATUSES.includes(error.status);
  return isNetworkError(error);
}

/** A function, because the signal may be aborted during an await. */
function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}
