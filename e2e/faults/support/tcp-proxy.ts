/**
 * A network link that can be disturbed: forwards bytes to a server until a test changes its mode.
 *
 * The client of the link is always the node under test; "the response" is what comes from the server.
 */
import { setTimeout } from 'node:timers/promises';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/**
 * - `pass`: forwards everything;
 * - `refuse`: open connections break, new ones are closed at once, as with a server that is down;
 * - `blackhole`: connections stay open and nothing arrives on either side, as behind a network partition.
 */
export type LinkMode = 'pass' | 'refuse' | 'blackhole';

export interface Link {
  readonly host: string;
  readonly port: number;
}

export class TcpProxy {
  readonly #server: Server;
  readonly #clients = new Set<Socket>();
  #target: Link;
  #mode: LinkMode = 'pass';
  #delayMs: () => number = () => 0;
  #losesAnswer: (request: Buffer) => boolean = () => false;
  /** The number of dropped responses. */
  answersLost = 0;

  private constructor(target: Link) {
    this.#target = target;
    this.#server = createServer((client) => this.#pass(client));
  }

  static async start(target: Link): Promise<TcpProxy> {
    const proxy = new TcpProxy(target);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port; // The link listens on TCP.
  }

  set mode(mode: LinkMode) {
    this.#mode = mode;
    if (mode !== 'blackhole') this.cut();
  }

  /** New connections go to another server: a failover. */
  set target(target: Link) {
    this.#target = target;
    this.cut();
  }

  /** Delays each chunk of a response by this much; chunks stay in order. */
  set delayMs(delayMs: () => number) {
    this.#delayMs = delayMs;
  }

  /**
   * Decides for each chunk from the client whether the server gets it but the connection breaks before the response.
   * The write then succeeds, while the writer sees a failure.
   */
  set losesAnswer(losesAnswer: (request: Buffer) => boolean) {
    this.#losesAnswer = losesAnswer;
  }

  /** Breaks all connections with a reset. */
  cut(): void {
    for (const socket of this.#clients) socket.resetAndDestroy();
  }

  async close(): Promise<void> {
    this.cut();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #pass(client: Socket): void {
    client.on('error', () => undefined);
    if (this.#mode === 'refuse') {
      client.resetAndDestroy();
      return;
    }
    this.#clients.add(client);
    const server = connect(this.#target.port, this.#target.host);
    server.on('error', () => undefined);
    server.on('close', () => client.destroy());
    client.on('close', () => {
      this.#clients.delete(client);
      server.destroy();
    });
    let isLosing = false;
    client.on('data', (chunk) => {
      if (this.#mode === 'blackhole') return;
      isLosing ||= this.#losesAnswer(chunk);
      server.write(chunk);
    });
    let sent = Promise.resolve();
    server.on('data', (chunk) => {
      if (this.#mode === 'blackhole') return;
      if (isLosing) {
        this.answersLost += 1;
        client.resetAndDestroy();
        return;
      }
      sent = this.#write(client, chunk, sent);
    });
  }

  async #write(client: Socket, chunk: Buffer, before: Promise<void>): Promise<void> {
    const delayMs = this.#delayMs();
    const due = delayMs === 0 ? null : setTimeout(delayMs);
    await before;
    if (due !== null) await due;
    if (!client.destroyed) client.write(chunk);
  }
}

/** The address of the same database through this link. */
export function addressThrough({ port }: TcpProxy, address: string): string {
  const url = new URL(address);
  url.host = `127.0.0.1:${port}`;
  // MongoDB's driver would otherwise connect to the addresses that the server announces.
  if (url.protocol === 'mongodb:') {
    url.pathname = '/';
    url.searchParams.set('directConnection', 'true');
  }
  return url.href;
}

/** Host and port of an address. */
export function linkOf(url: string): Link {
  const { hostname, port } = new URL(url);
  return { host: hostname, port: Number(port) };
}
