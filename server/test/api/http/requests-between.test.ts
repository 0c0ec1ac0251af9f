/**
 * Goal: another caller is answered between the requests of a flood, over HTTP.
 * Method: the server and its callers share a process, so all requests are sent before the server reads the first. What counts is
 * the order in which they reach the host, not time.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { startApi, type ApiServer } from '../support/api-server.js';

/** One after the other: the server, too, has accepted the connection. */
async function connections(
  { port, server }: ApiServer,
  localAddress: string,
  count: number,
): Promise<readonly Socket[]> {
  const sockets: Socket[] = [];
  while (sockets.length < count) {
    const accepted = once(server, 'connection');
    const socket = connect({ host: '127.0.0.1', port, localAddress });
    onTestFinished(() => void socket.destroy());
    await Promise.all([accepted, once(socket, 'connect')]);
    sockets.push(socket);
  }
  return sockets;
}

function publish(socket: Socket, key: string): void {
  const head = `POST /api/event/e/${key} HTTP/1.1\r\nHost: 127.0.0.1\r\n`;
  socket.write(`${head}Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`);
}

it('begins requests of another caller between 300 requests of one caller', async () => {
  const api = await startApi({
    host: { 'events.publish': async () => ({ id: 'e1', deliveredTo: 0 }) },
  });
  const flood = await connections(api, '127.0.0.2', 300);
  const others = await connections(api, '127.0.0.3', 3);
  for (const socket of flood) publish(socket, 'flood');
  for (const socket of others) publish(socket, 'other');
  await Promise.all([...flood, ...others].map((socket) => once(socket, 'data')));
  const order = api.calls.map(({ args: [event] }) => (event as { key: string }).key);
  expect(order).toHaveLength(303);
  const positions = order.flatMap((key, at) => (key === 'other' ? [at] : []));
  // The first turn begins eight of the flood.
  expect(Math.max(...positions)).toBeLessThan(20);
});
