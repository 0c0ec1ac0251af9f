/** Real HTTP servers on 127.0.0.1 for tests of calls, which record the requests. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import {
  createServer as createTcpServer,
  type AddressInfo,
  type Server,
  type Socket,
} from 'node:net';
import { secureTestCertificate, secureTestKey } from './secure-test-certificate.js';

export interface ReceivedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface LocalServer {
  readonly url: string;
  readonly port: number;
  readonly requests: readonly ReceivedRequest[];
  /** The number of connections since the start. */
  readonly connections: number;
  close(): Promise<void>;
}

/** The handler runs when the whole request has arrived. */
export async function startHttpServer(handler: RequestListener): Promise<LocalServer> {
  const requests: ReceivedRequest[] = [];
  return listen(createServer(recording(requests, handler)), requests);
}

/** Uses the certificate of `secure.test`. */
export async function startHttpsServer(handler: RequestListener): Promise<LocalServer> {
  const requests: ReceivedRequest[] = [];
  const options = { key: secureTestKey, cert: secureTestCertificate };
  return listen(createSecureServer(options, recording(requests, handler)), requests);
}

function recording(requests: ReceivedRequest[], handler: RequestListener): RequestListener {
  return (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      requests.push({ method, url, headers, body: Buffer.concat(chunks).toString() });
      handler(request, response);
    });
  };
}

/** Responds with any bytes that the test writes. */
export async function startTcpServer(onSocket: (socket: Socket) => void): Promise<LocalServer> {
  return listen(
    createTcpServer((socket) => {
      socket.on('error', () => undefined);
      onSocket(socket);
    }),
    [],
  );
}

async function listen(server: Server, requests: readonly ReceivedRequest[]): Promise<LocalServer> {
  const sockets = new Set<Socket>();
  let connections = 0;
  server.on('connection', (socket: Socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    requests,
    get connections() {
      return connections;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
