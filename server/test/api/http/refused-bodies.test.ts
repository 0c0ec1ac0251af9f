/** Bodies that are refused before they have arrived: by the length that their caller announces. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { startApi } from '../support/api-server.js';

const LENGTH = 900_000;

async function answerOn(socket: Socket): Promise<string> {
  let text = '';
  while (!text.includes('\r\n\r\n')) {
    const [part] = (await once(socket, 'data')) as [Buffer];
    text += part.toString();
  }
  return text;
}

function announce(socket: Socket, length: number): void {
  const head =
    'POST /api/event/e/k HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n';
  socket.write(`${head}Content-Length: ${length}\r\n\r\n`);
}

async function startRefusing() {
  const api = await startApi({
    host: { 'events.publish': async () => ({ id: 'e1', deliveredTo: 0 }) },
    memory: { bodiesMax: LENGTH },
  });
  const socket = connect({ host: '127.0.0.1', port: api.port });
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  return { api, socket };
}

it('refuses a body before it arrives if its announced length does not fit into the memory', async () => {
  const { api, socket } = await startRefusing();
  announce(socket, LENGTH);
  expect(await answerOn(socket)).toContain('HTTP/1.1 413');
  expect(api.calls).toEqual([]);
});

it('reads the rest of a refused body, and answers the next call on the connection', async () => {
  const { api, socket } = await startRefusing();
  announce(socket, LENGTH);
  expect(await answerOn(socket)).toContain('HTTP/1.1 413');
  socket.write('x'.repeat(LENGTH));
  announce(socket, 2);
  socket.write('{}');
  expect(await answerOn(socket)).toContain('HTTP/1.1 202');
  expect(api.calls).toHaveLength(1);
});

it('reads the rest of many refused bodies', async () => {
  const { api } = await startRefusing();
  const statuses = Array.from({ length: 40 }, async () => {
    const response = await api.post('/api/event/e/k', 'x'.repeat(LENGTH), 'application/json');
    await response.text();
    return response.status;
  });
  expect(new Set(await Promise.all(statuses))).toEqual(new Set([413]));
  expect((await api.post('/api/event/e/k', '{}', 'application/json')).status).toBe(202);
});
