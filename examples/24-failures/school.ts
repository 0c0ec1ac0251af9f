/** A school that lists its courses. It is overloaded at the first request. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface School {
  readonly url: string;
  close(): void;
}

export async function startSchool(courses: readonly string[]): Promise<School> {
  let isFirst = true;
  const server = createServer(({ url }, response) => {
    const status = isFirst ? 503 : courses.some((name) => url === `/courses/${name}`) ? 200 : 404;
    isFirst = false;
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ status }));
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
