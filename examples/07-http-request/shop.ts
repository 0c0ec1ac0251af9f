/** A shop with two calls, so that the example needs no service on the network. */
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Shop {
  readonly url: string;
  /** The requests so far, one line for each. */
  readonly log: readonly string[];
  close(): void;
}

export async function startShop(): Promise<Shop> {
  const log: string[] = [];
  const server = createServer((request, response) => {
    void readText(request).then((body) => {
      log.push(`${request.method ?? ''} ${request.url ?? ''} ${body}`.trim());
      const answer = answerTo(request);
      response.writeHead(answer.status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(answer.body));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // A TCP server has an AddressInfo.
  return {
    url: `http://127.0.0.1:${port}`,
    log,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

function answerTo({ method, url, headers }: IncomingMessage): { status: number; body: unknown } {
  if (method === 'GET' && url === '/articles/pen?warehouse=north') {
    return { status: 200, body: { article: 'pen', inStock: 7 } };
  }
  if (method === 'POST' && url === '/orders' && headers['x-shop-key'] === 'demo') {
    return { status: 201, body: { number: 'order-1' } };
  }
  return { status: 404, body: { message: 'no such article' } };
}

async function readText(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += String(chunk);
  return text;
}
