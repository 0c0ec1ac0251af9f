/**
 * The shared worker of all browser tabs. It holds one change stream for all of them, because HTTP/1.1 limits browsers to six
 * connections per server, and the user's credentials, because browser storage would write them to disk.
 */
import { ChangeBuffer } from './change-batch.js';
import { CONNECTING, followStream, type StreamStatus } from './follow-stream.js';
import type { HubMessage, TabMessage } from './hub-messages.js';
import type { Credentials } from './sign-in/credentials.js';
import { Renewer } from './sign-in/renewer.js';

interface Tab {
  readonly send: (message: HubMessage) => void;
  buffer: ChangeBuffer | null;
  stream: Stream | null;
}

interface Stream {
  readonly token: string | null;
  readonly stop: AbortController;
  readonly tabs: Set<Tab>;
  status: StreamStatus;
}

const tabs = new Set<Tab>();
const streams = new Map<string | null, Stream>();
let shared: Credentials | null = null;
const renewer = new Renewer((credentials) => {
  shared = credentials;
  for (const tab of tabs) tab.send({ type: 'credentials', credentials });
});

addEventListener('connect', (event) => {
  const [port] = (event as MessageEvent).ports;
  if (port === undefined) return;
  const tab: Tab = {
    send: (message) => port.postMessage(message),
    buffer: null,
    stream: null,
  };
  tabs.add(tab);
  // The page is the only sender.
  port.onmessage = ({ data }) => handle(tab, data as TabMessage);
});

function handle(tab: Tab, message: TabMessage): void {
  switch (message.type) {
    case 'hello':
      if (shared === null) share(message.credentials);
      tab.send({ type: 'welcome', credentials: shared });
      return;
    case 'credentials':
      share(message.credentials);
      for (const other of tabs) {
        if (other !== tab) other.send({ type: 'credentials', credentials: shared });
      }
      return;
    case 'follow':
      leave(tab);
      join(tab, message.token);
      return;
    case 'unfollow':
      leave(tab);
      return;
    case 'next':
      tab.buffer?.acknowledge();
      return;
  }
}

function share(credentials: Credentials | null): void {
  shared = credentials;
  renewer.use(credentials);
}

function join(tab: Tab, token: string | null): void {
  const known = streams.get(token);
  // A refused stream has ended; the tab may have a reason to try again.
  const stream =
    known === undefined || known.status.state === 'refused' ? openStream(token) : known;
  tab.stream = stream;
  tab.buffer = new ChangeBuffer((batch) => tab.send({ type: 'batch', batch }));
  stream.tabs.add(tab);
  tab.send(statusMessage(stream.status));
}

function leave(tab: Tab): void {
  const { stream } = tab;
  tab.buffer?.close();
  tab.buffer = null;
  tab.stream = null;
  stream?.tabs.delete(tab);
  if (stream?.tabs.size !== 0) return;
  stream.stop.abort();
  if (streams.get(stream.token) === stream) streams.delete(stream.token);
}

function openStream(token: string | null): Stream {
  const stream: Stream = {
    token,
    stop: new AbortController(),
    tabs: new Set(),
    status: CONNECTING,
  };
  streams.set(token, stream);
  void followStream(token, stream.stop.signal, {
    onChange: (change) => stream.tabs.forEach(({ buffer }) => buffer?.add(change)),
    onStatus: (status) => {
      stream.status = status;
      stream.tabs.forEach(({ send }) => send(statusMessage(status)));
    },
  });
  return stream;
}

function statusMessage({ state, refusal }: StreamStatus): HubMessage {
  return { type: 'status', state, problem: refusal?.problem ?? null };
}
