/**
 * The connection of this tab to the worker that all tabs share. A browser without shared workers (some on phones) makes
 * each visible tab follow the change stream itself.
 */
import { ApiError, type Problem } from '@stepwright/sdk';
import { ChangeBuffer, type LiveBatch } from './change-batch.js';
import { followStream, type StreamStatus } from './follow-stream.js';
import type { HubMessage, TabMessage } from './hub-messages.js';

export interface HubListener {
  readonly onBatch: (batch: LiveBatch) => void;
  readonly onStatus: (status: StreamStatus) => void;
}

/** How long the page waits for the token of another tab. */
const WELCOME_MS_MAX = 1000;

const tokenListeners = new Set<(token: string | null) => void>();
let listener: HubListener | null = null;
let welcome: ((token: string | null) => void) | null = null;
const port = openPort();

function openPort(): MessagePort | null {
  if (typeof SharedWorker === 'undefined') return null;
  const worker = new SharedWorker(new URL('./hub-worker.ts', import.meta.url), { type: 'module' });
  // The worker is the only sender.
  worker.port.onmessage = ({ data }) => receive(data as HubMessage);
  return worker.port;
}

function receive(message: HubMessage): void {
  switch (message.type) {
    case 'welcome':
      welcome?.(message.token);
      return;
    case 'token':
      tokenListeners.forEach((tell) => tell(message.token));
      return;
    case 'batch':
      listener?.onBatch(message.batch);
      send({ type: 'next' });
      return;
    case 'status':
      listener?.onStatus({ state: message.state, refusal: refusalOf(message.problem) });
      return;
  }
}

function send(message: TabMessage): void {
  port?.postMessage(message);
}

/** An error loses its class on its way from the worker. */
function refusalOf(problem: Problem | null): ApiError | null {
  if (problem === null) return null;
  const call = { call: 'GET /api/stream', subject: {}, attempts: 1 };
  return new ApiError({ ...call, problem, retryAfterMs: null });
}

/** Offers the token of this tab to the other tabs, and resolves to theirs; null if nobody has signed in. */
export function shareToken(own: string | null): Promise<string | null> {
  if (port === null) return Promise.resolve(own);
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(own), WELCOME_MS_MAX);
    welcome = (token) => {
      clearTimeout(timer);
      resolve(token);
    };
    send({ type: 'hello', token: own });
  });
}

/** Tells the other tabs that the user has signed in or out. */
export function announceToken(token: string | null): void {
  send({ type: 'token', token });
}

/** Calls the listener when the user has signed in or out in another tab. */
export function onSharedToken(tell: (token: string | null) => void): () => void {
  tokenListeners.add(tell);
  return () => void tokenListeners.delete(tell);
}

/** Follows the changes that this token may see. Returns a function that stops. A tab follows with one token at a time. */
export function followChanges(token: string | null, next: HubListener): () => void {
  return port === null ? followAlone(token, next) : followTogether(token, next);
}

function followTogether(token: string | null, next: HubListener): () => void {
  listener = next;
  const start = (): void => send({ type: 'follow', token });
  const stop = (): void => send({ type: 'unfollow' });
  const end = new AbortController();
  // The browser may keep a page that the user has left, and show it again later.
  addEventListener('pagehide', stop, { signal: end.signal });
  addEventListener('pageshow', ({ persisted }) => persisted && start(), { signal: end.signal });
  start();
  return () => {
    end.abort();
    stop();
    listener = null;
  };
}

function followAlone(token: string | null, { onBatch, onStatus }: HubListener): () => void {
  const end = new AbortController();
  let connection: AbortController | null = null;
  const stop = (): void => {
    connection?.abort();
    connection = null;
  };
  const start = (): void => {
    if (connection !== null) return;
    connection = new AbortController();
    const buffer = new ChangeBuffer((batch) => {
      onBatch(batch);
      buffer.acknowledge();
    });
    connection.signal.addEventListener('abort', () => buffer.close());
    const onChange = buffer.add.bind(buffer);
    void followStream(token, connection.signal, { onChange, onStatus });
  };
  const update = (): void => (document.visibilityState === 'hidden' ? stop() : start());
  document.addEventListener('visibilitychange', update, { signal: end.signal });
  addEventListener('pagehide', stop, { signal: end.signal });
  addEventListener('pageshow', update, { signal: end.signal });
  update();
  return () => {
    end.abort();
    stop();
  };
}
