/** A connection that listens on a channel, and is reopened whenever it ends. */
import { backOffMs, withJitter } from '../../base/back-off.js';
import type { Logger } from '../../base/logger.js';

/** The part of the driver's client that is needed for listening. */
export interface ListeningConnection {
  query(text: string): Promise<unknown>;
  escapeIdentifier(name: string): string;
  on(
    event: 'notification',
    listener: (message: { readonly payload?: string | undefined }) => void,
  ): unknown;
  on(event: 'end', listener: () => void): unknown;
  readonly connection: { readonly stream: { destroy(): unknown } };
}

export interface NotificationListenerOptions {
  readonly connect: () => Promise<ListeningConnection>;
  readonly channel: string;
  readonly logger: Logger;
  readonly received: (text: string) => void;
  /** LISTEN has succeeded. */
  readonly opened: () => void;
  readonly lost: () => void;
}

const RECONNECT = { firstMs: 100, lastMs: 5000 };
/** A server that accepts connections but does not respond is given up after this time. */
const LISTEN_MS_MAX = 5000;

export class NotificationListener {
  readonly #options: NotificationListenerOptions;
  #connection: ListeningConnection | null = null;
  #isOpen = false;
  #attempts = 0;
  #running: Promise<void> | null = null;
  #isStopped = false;
  #wake: () => void = () => undefined;

  constructor(options: NotificationListenerOptions) {
    this.#options = options;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#wake();
    this.reconnect();
    await this.#running;
  }

  /** Closes the connection; another one is opened after a while. */
  reconnect(): void {
    this.#connection?.connection.stream.destroy();
  }

  /** Records that the connection works: after its end, the next attempt follows soon. */
  worked(): void {
    this.#attempts = 0;
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      try {
        await this.#listen();
      } catch (error) {
        this.#options.logger.debug({ err: error }, 'could not listen to PostgreSQL; trying again');
      }
      await this.#rest();
    }
  }

  /** Resolves when the connection ends. */
  async #listen(): Promise<void> {
    const { channel, connect, lost, opened, received } = this.#options;
    const connection = await connect();
    this.#connection = connection;
    const ended = new Promise<void>((resolve) => {
      connection.on('end', resolve);
    });
    connection.on('notification', ({ payload = '' }) => received(payload));
    if (this.#isStopped) this.reconnect();
    const late = setTimeout(() => this.reconnect(), LISTEN_MS_MAX);
    try {
      await connection.query(`LISTEN ${connection.escapeIdentifier(channel)}`);
      clearTimeout(late);
      this.#isOpen = true;
      opened();
      await ended;
    } finally {
      clearTimeout(late);
      this.reconnect();
      this.#connection = null;
      if (this.#isOpen) lost();
      this.#isOpen = false;
    }
  }

  async #rest(): Promise<void> {
    if (this.#isStopped) return;
    this.#attempts += 1;
    const pauseMs = withJitter(backOffMs(this.#attempts, RECONNECT));
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, pauseMs);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
