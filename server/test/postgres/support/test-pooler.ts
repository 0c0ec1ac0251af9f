/**
 * A proxy that hides from its clients what PgBouncer hides: the server's reports that it can only be read, and settings of
 * a connection. Unlike PgBouncer, it has one connection to the server for each client.
 */
import { createServer, connect, type AddressInfo, type Socket } from 'node:net';

/** What happens to settings in the first message of a client. `ignore_startup_parameters` makes PgBouncer ignore them. */
export type SettingsHandling = 'refuses' | 'ignores';

export interface TestPooler {
  /** Name and port. */
  readonly host: string;
  stop(): Promise<void>;
}

const SSL_REQUEST = 80_877_103;
const CANCEL_REQUEST = 80_877_102;
const KNOWN_SETTINGS: ReadonlySet<string> = new Set([
  'user',
  'database',
  'application_name',
  'client_encoding',
]);
const HIDDEN_REPORTS: ReadonlySet<string> = new Set([
  'in_hot_standby',
  'default_transaction_read_only',
]);

export async function startTestPooler(
  { hostname, port }: Pick<URL, 'hostname' | 'port'>,
  handling: SettingsHandling,
): Promise<TestPooler> {
  const sockets = new Set<Socket>();
  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    return socket.once('close', () => sockets.delete(socket));
  };
  const proxy = createServer((client) => {
    const server = keep(connect(Number(port), hostname));
    keep(client).once('close', () => server.destroy());
    server.once('close', () => client.destroy());
    forwardToServer(client, server, handling);
    forwardToClient(server, client);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  // A server that listens on a port has an address of this type.
  const address = proxy.address() as AddressInfo;
  return {
    host: `127.0.0.1:${address.port}`,
    async stop() {
      const closed = new Promise((resolve) => proxy.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** The first message is read; the rest passes through. */
function forwardToServer(client: Socket, server: Socket, handling: SettingsHandling): void {
  let received = Buffer.alloc(0);
  const read = (chunk: Buffer): void => {
    received = Buffer.concat([received, chunk]);
    while (received.length >= 8 && received.length >= received.readInt32BE(0)) {
      const code = received.readInt32BE(4);
      if (code !== SSL_REQUEST) break;
      client.write('N');
      received = received.subarray(8);
    }
    if (received.length < 8 || received.length < received.readInt32BE(0)) return;
    const length = received.readInt32BE(0);
    const settings = received.readInt32BE(4) === CANCEL_REQUEST ? null : settingsIn(received);
    const unknown = [...(settings?.keys() ?? [])].find((name) => !KNOWN_SETTINGS.has(name));
    if (unknown !== undefined && handling === 'refuses') {
      client.end(errorMessage(`unsupported startup parameter: ${unknown}`));
      server.destroy();
      return;
    }
    server.write(settings === null ? received.subarray(0, length) : startupMessage(settings));
    server.write(received.subarray(length));
    client.off('data', read);
    client.on('data', (more) => server.write(more));
  };
  client.on('data', read);
}

/** All messages but the hidden reports. */
function forwardToClient(server: Socket, client: Socket): void {
  let received = Buffer.alloc(0);
  server.on('data', (chunk) => {
    received = Buffer.concat([received, chunk]);
    while (received.length >= 5 && received.length > received.readInt32BE(1)) {
      const length = 1 + received.readInt32BE(1);
      const message = received.subarray(0, length);
      received = received.subarray(length);
      if (message[0] === 'S'.charCodeAt(0) && HIDDEN_REPORTS.has(textAt(message, 5))) continue;
      client.write(message);
    }
  });
}

function settingsIn(message: Buffer): Map<string, string> {
  const parts = message.toString('utf8', 8, message.readInt32BE(0)).split('\0');
  const settings = new Map<string, string>();
  for (let n = 0; n + 1 < parts.length && parts[n] !== ''; n += 2) {
    settings.set(parts[n]!, parts[n + 1]!);
  }
  return settings;
}

function startupMessage(settings: ReadonlyMap<string, string>): Buffer {
  const known = [...settings].filter(([name]) => KNOWN_SETTINGS.has(name)).flat();
  const body = Buffer.from(`${known.join('\0')}\0\0`);
  const head = Buffer.alloc(8);
  head.writeInt32BE(8 + body.length, 0);
  // Version 3.0 of the protocol.
  head.writeInt32BE(3 << 16, 4);
  return Buffer.concat([head, body]);
}

function errorMessage(text: string): Buffer {
  const body = Buffer.from(`SFATAL\0C08P01\0M${text}\0\0`);
  const head = Buffer.alloc(5);
  head.write('E');
  head.writeInt32BE(4 + body.length, 1);
  return Buffer.concat([head, body]);
}

function textAt(message: Buffer, start: number): string {
  return message.toString('utf8', start, message.indexOf(0, start));
}
