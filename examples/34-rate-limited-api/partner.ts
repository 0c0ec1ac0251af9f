/** The partner's service. It answers once it is told to, and counts the calls that are open for each customer. */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Partner {
  readonly url: string;
  /** How many calls for a customer were open at the same time, at most. */
  most(customer: string): number;
  /** When the calls for a customer came, in milliseconds. */
  times(customer: string): readonly number[];
  /** Answers all calls, and those that come from then on. */
  answer(): void;
  close(): void;
}

export async function startPartner(): Promise<Partner> {
  const open = new Map<string, number>();
  const most = new Map<string, number>();
  const times = new Map<string, number[]>();
  const held: ServerResponse[] = [];
  let isAnswering = false;
  const answerTo = (response: ServerResponse): void => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end('{"sum":90}');
  };
  const server = createServer(({ url = '' }, response) => {
    const customer = url.split('/')[2] ?? '';
    const count = (open.get(customer) ?? 0) + 1;
    open.set(customer, count);
    most.set(customer, Math.max(count, most.get(customer) ?? 0));
    times.set(customer, [...(times.get(customer) ?? []), Date.now()]);
    response.once('close', () => open.set(customer, (open.get(customer) ?? 1) - 1));
    if (isAnswering) answerTo(response);
    else held.push(response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // A TCP server has an AddressInfo.
  return {
    url: `http://127.0.0.1:${port}`,
    most: (customer) => most.get(customer) ?? 0,
    times: (customer) => times.get(customer) ?? [],
    answer: () => {
      isAnswering = true;
      held.forEach(answerTo);
    },
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
