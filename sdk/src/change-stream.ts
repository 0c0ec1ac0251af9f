/** Server-sent events of `/api/stream` as an async iteration that connects again by itself. */
import type { WorkflowSummary } from './api-types.js';
import { isApiError, isNetworkError } from './errors.js';
import { pause } from './pause.js';
import { TEMPORARY_STATUSES } from './retry-policy.js';
import type { Transport } from './transport.js';

/** Something changed on the server. */
export type Change =
  /** A workflow was started, has come further or was controlled. */
  | { readonly type: 'workflow'; readonly workflow: WorkflowSummary }
  /** A definition has a new version. */
  | { readonly type: 'definition'; readonly id: string; readonly version: number }
  /** Something may have been missed: read again what is shown. */
  | { readonly type: 'lag' };

/** What to follow; all of it when nothing is given. */
export interface StreamOptions {
  /** Only this workflow. Then the first change is the workflow as it is, so that nothing is missed before. */
  readonly workflowId?: string;
  /** Only this definition and its workflows. */
  readonly definitionId?: string;
  /** Ends the iteration. */
  readonly signal?: AbortSignal;
  /**
   * Called with true when the server has begun to tell, at first and after each break, and with false when it no longer
   * does, until the loop ends.
   */
  readonly onConnection?: (isConnected: boolean) => void;
}

/** The server says something every 15 seconds; a connection that is silent for longer is dead. */
const SILENCE_MS_MAX = 45_000;
const PAUSE_MS_MIN = 500;
const PAUSE_MS_MAX = 10_000;
/** Until the first connection; later ones are tried for as long as it takes. */
const FIRST_ATTEMPTS = 5;

/** Ends when the signal fires or the caller leaves the loop. @throws what cannot be mended by trying again */
export async function* followChanges(
  transport: Transport,
  { signal, onConnection, ...filter }: StreamOptions,
): AsyncGenerator<Change, void, undefined> {
  let hasConnected = false;
  let failures = 0;
  while (!isAborted(signal)) {
    const connection = new AbortController();
    let isConnected = false;
    const hangUp = (): void => connection.abort();
    signal?.addEventListener('abort', hangUp);
    try {
      const body = await transport.open('/api/stream', filter, connection.signal);
      const isFirst = !hasConnected;
      hasConnected = true;
      isConnected = true;
      failures = 0;
      onConnection?.(true);
      // What happened in between was told to nobody.
      if (!isFirst) yield { type: 'lag' };
      // Once the server tells of changes, so that none falls in between.
      if (filter.workflowId !== undefined)
        yield await current(transport, filter.workflowId, signal);
      yield* readChanges(body, hangUp);
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
    signal === undefined ? {} : { signal },
  );
  return { type: 'workflow', workflow };
}

async function* readChanges(
  body: ReadableStream<Uint8Array>,
  hangUp: () => void,
): AsyncGenerator<Change, void, undefined> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  for (;;) {
    const silence = setTimeout(hangUp, SILENCE_MS_MAX);
    // A connection that breaks off is like one that ends: the next one says what was missed.
    const { done, value } = await reader
      .read()
      .catch(() => ({ done: true, value: undefined }))
      .finally(() => clearTimeout(silence));
    if (done) return;
    text += decoder.decode(value, { stream: true });
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const change = changeOf(block);
      if (change !== null) yield change;
    }
  }
}

/** Null for comments, and for events of a later server. */
function changeOf(block: string): Change | null {
  const type = /^event: (.*)$/m.exec(block)?.[1];
  const data = /^data: (.*)$/m.exec(block)?.[1];
  if (data === undefined) return null;
  if (type === 'lag') return { type };
  // What the server sends under these names has these forms.
  if (type === 'workflow') return { type, workflow: JSON.parse(data) as WorkflowSummary };
  if (type !== 'definition') return null;
  const { id, version } = JSON.parse(data) as { readonly id: string; readonly version: number };
  return { type, id, version };
}

function isTemporary(error: unknown): boolean {
  if (isApiError(error)) return TEMPORARY_STATUSES.includes(error.status);
  return isNetworkError(error);
}

/** Asked anew each time: the signal may fire while something is awaited. */
function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}
