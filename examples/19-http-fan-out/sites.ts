/** Sites that respond after a short delay, so that parallel requests overlap. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const ANSWER_AFTER_MS = 150;

export interface Sites {
  readonly url: string;
  /** The maximum number of requests that were open at the same time. */
  openAtOnceMax(): number;
  close(): void;
}

export async function startSites({ broken }: { broken: readonly string[] }): Promise<Sites> {
  let open = 0;
  let openMax = 0;
  const server = createServer((request, response) => {
    open += 1;
    openMax = Math.max(openMax, open);
    const site = (request.url ?? '').slice(1);
    setTimeout(() => {
      open -= 1;
      response.writeHead(broken.includes(site) ? 503 : 200).end();
    }, ANSWER_AFTER_MS);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // A TCP server has an AddressInfo.
  return {
    url: `http://127.0.0.1:${port}`,
    openAtOnceMax: () => openMax,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
