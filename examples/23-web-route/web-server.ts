/** Serves the handlers of a route with plain Node.js, like a framework: a web Request in, a web Response out. */
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';

export type RouteHandler = (request: Request) => Promise<Response>;

export interface WebServer {
  readonly url: string;
  close(): void;
}

export async function serveRoute(handlers: Record<string, RouteHandler>): Promise<WebServer> {
  const server = createServer((incoming, outgoing) => {
    const gone = new AbortController();
    outgoing.once('close', () => gone.abort());
    const handler = handlers[incoming.method ?? ''];
    const answered =
      handler === undefined
        ? Promise.resolve(new Response(null, { status: 405 }))
        : handler(webRequest(incoming, gone.signal));
    answered
      .catch((error: unknown) => {
        if (!gone.signal.aborted) console.error(error);
        return new Response(null, { status: 500 });
      })
      .then(async (response) => {
        outgoing.writeHead(response.status, Object.fromEntries(response.headers));
        outgoing.end(Buffer.from(await response.arrayBuffer()));
      })
      .catch((error: unknown) => outgoing.destroy(error instanceof Error ? error : undefined));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // A TCP server has an AddressInfo.
  return {
    url: `http://127.0.0.1:${port}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

function webRequest(incoming: IncomingMessage, signal: AbortSignal): Request {
  const { method = 'GET', headers, url = '/' } = incoming;
  const fields = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, String(value)]],
  );
  const hasBody = method !== 'GET' && method !== 'HEAD';
  return new Request(new URL(url, `http://${headers.host ?? 'localhost'}`), {
    method,
    headers: fields,
    signal,
    ...(hasBody && { body: Readable.toWeb(incoming) as ReadableStream, duplex: 'half' }), // The stream class of Node.js.
  });
}
