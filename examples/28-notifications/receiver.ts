/** A receiver of notifications: verifies each message, and handles each once. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';

/** The message members that this receiver uses; for a test message, `data` is empty. */
export interface Message {
  type: string;
  data: { reference?: string | null; lastError?: { message: string } | null };
}

export interface Receiver {
  readonly url: string;
  close(): void;
}

/** @param answer the status that the receiver answers a message with: 2xx accepts it, anything else makes the server try again */
export async function startReceiver(
  secret: string,
  answer: (message: Message) => number,
): Promise<Receiver> {
  const webhook = new Webhook(secret);
  // A real receiver keeps the ids of the last days in its database, in the transaction that handles the message.
  const handled = new Set<string>();

  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // The signature covers the raw body: verify it before parsing.
    const body = await text(request);
    const id = String(request.headers['webhook-id']);
    let message: Message;
    try {
      message = webhook.verify(body, request.headers as Record<string, string>) as Message;
    } catch (error) {
      if (!(error instanceof WebhookVerificationError)) throw error;
      response.writeHead(401).end();
      return;
    }
    if (handled.has(id)) {
      response.writeHead(204).end();
      return;
    }
    const status = answer(message);
    if (status < 300) handled.add(id);
    response.writeHead(status).end();
  }

  const server = createServer((request, response) => {
    receive(request, response).catch(() => response.writeHead(500).end());
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
