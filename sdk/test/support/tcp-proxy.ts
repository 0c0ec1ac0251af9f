/** A network that can be disturbed: it forwards bytes to a server until a test cuts connections or drops responses. */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

export class TcpProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #targetPort: number;
  #answersToLose = 0;
  #isDown = false;
  /** The first line of each forwarded request. */
  readonly requests: string[] = [];
  /** The connections that were refused. */
  refused = 0;

  private constructor(target: string) {
    this.#targetPort = Number(new URL(target).port);
    this.#server = createServer((client) => this.#pass(client));
  }

  static async start(target: string): Promise<TcpProxy> {
    const proxy = new TcpProxy(target);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The server gets the next requests, but the connection to the caller breaks before the response. */
  loseAnswers(count: number): void {
    this.#answersToLose = count;
  }

  /** Breaks all connections and refuses new ones until `up`. */
  down(): void {
    this.#isDown = true;
    this.cut();
  }

  up(): void {
    this.#isDown = false;
  }

  /** Breaks all connections. */
  cut(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  async close(): Promise<void> {
    this.cut();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #pass(client: Socket): void {
    if (this.#isDown) {
      this.refused += 1;
      client.resetAndDestroy();
      return;
    }
    const server = connect(this.#targetPort, '127.0.0.1');
    for (const socket of [client, server]) {
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        this.#sockets.delete(socket);
        client.destroy();
        server.destroy();
      });
    }
    client.on('data', (chunk) => {
      const line = /^(?:GET|POST|PUT|DELETE) \S+/.exec(chunk.toString('latin1'))?.[0];
      if (line !== undefined) this.requests.push(line);
      server.write(chunk);
    });
    server.on('data', (chunk) => {
      if (this.#answersToLose === 0) {
        client.write(chunk);
        return;
      }
      this.#answersToLose -= 1;
      client.resetAndDestroy();
    });
  }
}
