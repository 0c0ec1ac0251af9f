/**
 * Hints over Redis pub/sub.
 *
 * Owns: two connections, one for sending and one for receiving. Nothing waits for them: a hint that cannot be sent
 * immediately is dropped and counted. If Redis is down, restarts, or loses its data, only latency suffers.
 */
import { Redis } from 'ioredis';
import { backOffMs, withJitter } from '../../base/back-off.js';
import type { Logger } from '../../base/logger.js';
import type { Backplane, Hint } from '../backplane.js';
import { readHint, writeHint } from '../hint-codec.js';

export interface RedisBackplaneOptions {
  /** `redis://…` or `rediss://…` */
  readonly url: string;
  /** Nodes with the same channel receive each other's hints; each store has its own channel. */
  readonly channel: string;
  readonly nodeId: string;
  readonly logger: Logger;
}

const RECONNECT = { firstMs: 100, lastMs: 2000 };
/** Maximum time that the start waits for Redis before it continues without it. */
const START_MS_MAX = 2000;

export function createRedisBackplane(options: RedisBackplaneOptions): RedisBackplane {
  return new RedisBackplane(options);
}

export class RedisBackplane implements Backplane {
  readonly kind = 'redis' as const;
  readonly #options: RedisBackplaneOptions;
  readonly #sender: Redis;
  readonly #listener: Redis;
  #heard: (hint: Hint) => void = () => undefined;
  #isListening = false;
  /** Hints that could not be sent, and received messages that were not hints. */
  dropped = 0;
  ignored = 0;

  constructor(options: RedisBackplaneOptions) {
    this.#options = options;
    this.#sender = this.#connection();
    this.#listener = this.#connection();
    this.#listener.on('message', (_channel, text) => this.#receive(text));
    this.#listener.on('ready', () => void this.#listen());
    this.#listener.on('close', () => this.#setListening(false));
  }

  get healthy(): boolean {
    return this.#isListening && this.#sender.status === 'ready';
  }

  subscribe(listener: (hint: Hint) => void): void {
    this.#heard = listener;
  }

  publish(hint: Hint): void {
    if (this.#sender.status !== 'ready') {
      this.dropped += 1;
      return;
    }
    const { channel, nodeId } = this.#options;
    this.#sender.publish(channel, writeHint({ sender: nodeId, hint })).catch(() => {
      this.dropped += 1;
    });
  }

  /** Waits briefly for Redis. Without Redis, the node starts anyway and connects once Redis is available. */
  async start(): Promise<void> {
    const connected = Promise.all([this.#sender.connect(), this.#listener.connect()]);
    connected.catch(() => undefined);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, START_MS_MAX);
    });
    await Promise.race([connected.catch(() => undefined), late]);
    clearTimeout(timer);
    if (this.#sender.status !== 'ready') {
      this.#options.logger.warn(
        'Redis is not responding; polling the store for changes on other nodes instead',
      );
    }
  }

  stop(): Promise<void> {
    this.#sender.disconnect();
    this.#listener.disconnect();
    return Promise.resolve();
  }

  #connection(): Redis {
    const connection = new Redis(this.#options.url, {
      lazyConnect: true,
      // A hint that has to wait for a connection is already useless.
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      retryStrategy: (attempt) => withJitter(backOffMs(attempt, RECONNECT)),
    });
    connection.on('error', (error: Error) => {
      this.#options.logger.debug({ err: error }, 'Redis connection');
    });
    return connection;
  }

  async #listen(): Promise<void> {
    try {
      await this.#listener.subscribe(this.#options.channel);
      this.#setListening(true);
    } catch (error) {
      this.#options.logger.debug(
        { err: error },
        'could not subscribe to Redis; trying again on the next connection',
      );
      this.#listener.disconnect(true);
    }
  }

  #setListening(isListening: boolean): void {
    if (this.#isListening === isListening) return;
    this.#isListening = isListening;
    this.#options.logger.info(
      isListening
        ? 'connected to Redis'
        : 'lost the connection to Redis; polling the store for changes on other nodes instead',
    );
  }

  #receive(text: string): void {
    const sent = readHint(text);
    if (sent === null) this.ignored += 1;
    else if (sent.sender !== this.#options.nodeId) this.#heard(sent.hint);
  }
}
