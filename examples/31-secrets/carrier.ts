/** A carrier that accepts orders with its token, and carelessly echoes it in the response. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Carrier {
  readonly url: string;
  readonly close: () => void;
}

export async function startCarrier(token: string): Promise<Carrier> {
  const server = createServer((request, response) => {
    request.resume();
    const isKnown = request.headers.authorization === `Bearer ${token}`;
    response.writeHead(isKnown ? 201 : 401, { 'Content-Type': 'application/json' });
    const message = isKnown ? `thank you, ${token}` : 'who are you?';
    response.end(JSON.stringify({ number: isKnown ? 'P-1' : null, message }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() };
}
