/**
 * Goal: calls to more and more hosts use no more connections than the limit, and none is closed while a call needs it.
 */
import type { Socket } from 'node:net';
import { expect, it } from 'vitest';
import { contextOf, useCalls, valuesOf } from '../support/call.js';

const { body, serve } = useCalls();
const HOSTS = 500;
const CONNECTIONS_MAX = 16;

/** Every name resolves to this machine, so that there can be any number of hosts. */
const lookup = () => Promise.resolve([{ address: '127.0.0.1', family: 4 as const }]);

async function countingServer(answerAfter: () => Promise<void>) {
  const open = new Set<Socket>();
  const seen = { most: 0 };
  const server = await serve(async (request, response) => {
    open.add(request.socket);
    seen.most = Math.max(seen.most, open.size);
    request.socket.once('close', () => open.delete(request.socket));
    await answerAfter();
    response.end('1');
  });
  return { port: server.port, seen, open };
}

it('closes the connection that has been idle the longest when another host needs one', async () => {
  const { port, seen, open } = await countingServer(() => Promise.resolve());
  const calls = body({ connectionsMax: CONNECTIONS_MAX, lookup });
  for (let host = 0; host < HOSTS; host += 8) {
    const together = Array.from({ length: Math.min(8, HOSTS - host) }, (_, at) =>
      calls.run({ BaseUrl: `http://host-${host + at}.test:${port}/` }, contextOf()),
    );
    for (const result of await Promise.all(together)) {
      expect(valuesOf(result)['ResponseCode']).toBe(200);
    }
  }
  // The other end of a connection learns a little later that it was closed.
  expect(seen.most).toBeLessThanOrEqual(2 * CONNECTIONS_MAX);
  // The newest ones are kept for the next call.
  expect(open.size).toBeGreaterThan(0);
});

it('closes no connection in use', async () => {
  const waiting: (() => void)[] = [];
  const { port, seen } = await countingServer(
    () => new Promise((resolve) => waiting.push(resolve)),
  );
  const calls = body({ connectionsMax: CONNECTIONS_MAX, lookup });
  const run = async (host: number): Promise<unknown> => {
    const definitionId = `definition ${host}`;
    const inputs = { BaseUrl: `http://host-${host}.test:${port}/` };
    return valuesOf(await calls.run(inputs, { ...contextOf(), definitionId }))['ResponseCode'];
  };
  const all = Promise.all(Array.from({ length: 100 }, (_, host) => run(host)));
  let answered = 0;
  while (answered < 100) {
    await expect.poll(() => waiting.length).toBeGreaterThan(0);
    for (const answer of waiting.splice(0)) {
      answered += 1;
      answer();
    }
  }
  expect(await all).toEqual(Array.from({ length: 100 }, () => 200));
  expect(seen.most).toBeLessThanOrEqual(2 * CONNECTIONS_MAX);
});
