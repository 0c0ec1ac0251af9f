/** Reads a stream of server-sent events with `fetch`, as the browser's own EventSource cannot send a token. */

export interface StreamEvent {
  readonly name: string;
  readonly data: unknown;
}

/** One event is a summary; what is longer than this is no answer of ours. */
const EVENT_LENGTH_MAX = 1_000_000;

interface StreamOptions {
  readonly token: string | null;
  readonly signal: AbortSignal;
  /** The server has accepted; events follow when there are some. */
  readonly onOpen: () => void;
}

/**
 * Yields events until the connection ends.
 *
 * @throws Error with the status as its cause when the server does not answer with a stream
 */
export async function* readEvents(
  url: string,
  { token, signal, onOpen }: StreamOptions,
): AsyncGenerator<StreamEvent, void, undefined> {
  const response = await fetch(url, {
    headers: {
      accept: 'text/event-stream',
      ...(token !== null && { authorization: `Bearer ${token}` }),
    },
    signal,
    cache: 'no-store',
  });
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  if (!response.ok || !isStream || response.body === null) {
    throw new Error('there is no stream', { cause: response.status });
  }
  onOpen();
  let rest = '';
  for await (const text of textOf(response.body)) {
    const blocks = (rest + text).replaceAll('\r\n', '\n').split('\n\n');
    rest = blocks.pop() ?? '';
    if (rest.length > EVENT_LENGTH_MAX) throw new Error('an event is too long');
    for (const block of blocks) {
      const event = readEvent(block);
      if (event !== null) yield event;
    }
  }
}

async function* textOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      yield decoder.decode(value, { stream: true });
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** Null for comments and settings. */
function readEvent(block: string): StreamEvent | null {
  let name = 'message';
  const data: string[] = [];
  for (const line of block.split('\n')) {
    if (line.startsWith('event:')) name = line.slice(6).trim();
    else if (line.startsWith('data:')) data.push(line.slice(5).replace(/^ /, ''));
  }
  if (data.length === 0) return null;
  try {
    return { name, data: JSON.parse(data.join('\n')) };
  } catch {
    return null;
  }
}
