/**
 * This tab's connection to the shared worker. In browsers without shared workers (some on phones), each visible tab follows the
 * change stream itself.
 */
import { ApiError, type Problem } from '@stepwright/sdk';
import { ChangeBuffer, type LiveBatch } from './change-batch.js';
import { followStream, type StreamStatus } from './follow-stream.js';
import type { HubMessage, TabMessage } from './hub-messages.js';
import type { Credentials } from './sign-in/credentials.js';
import { Renewer } from './sign-in/renewer.js';

export interface HubListener {
  readonly onBatch: (batch: LiveBatch) => void;
  readonly onStatus: (status: StreamStatus) => void;
}

/** How long the page waits for credentials from another tab. */
const WELCOME_MS_MAX = 1000;

type Tell = (credentials: Credentials | null) => void;

const credentialsListeners = new Set<Tell>();
let listener: HubListener | null = null;
let welcome: Tell | null = null;
const port = openPort();
/** Only without a shared worker, which otherwise renews the token for all tabs. */
const renewer = port === null ? new Renewer(tellAll) : null;

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
      welcome?.(message.credentials);
      return;
    case 'credentials':
      tellAll(message.credentials);
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

function tellAll(credentials: Credentials | null): void {
  credentialsListeners.forEach((tell) => tell(credentials));
}

function send(message: TabMessage): void {
  port?.postMessage(message);
}

/** Errors from the worker lose their class. */
function refusalOf(problem: Problem | null): ApiError | null {
  if (problem === null) return null;
  const call = { call: 'GET /api/stream', subject: {}, attempts: 1 };
  return new ApiError({ ...call, problem, retryAfterMs: null });
}

/** Offers this tab's credentials to the other tabs, and resolves to theirs; null if no user has signed in. */
export function shareCredentials(own: Credentials | null): Promise<Credentials | null> {
  if (port === null) {
    renewer?.use(own);
    return Promise.resolve(own);
  }
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(own), WELCOME_MS_MAX);
    welcome = (credentials) => {
      clearTimeout(timer);
      resolve(credentials);
    };
    send({ type: 'hello', credentials: own });
  });
}

/** Tells the other tabs that the user has signed in or out. */
export function announceCredentials(credentials: Credentials | null): void {
  renewer?.use(credentials);
  send({ type: 'credentials', credentials });
}

/** Calls the listener when the user signs in or out in another tab, or when the token is renewed. */
export function onCredentials(tell: Tell): () => void {
  credentialsListeners.add(tell);
  return () => void credentialsListeners.delete(tell);
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
