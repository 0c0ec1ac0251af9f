/** LISTEN and NOTIFY without a database: every notification reaches every listener, and all of them are counted. */
import type { ListeningConnection } from '../../../src/backplane/postgres/notification-listener.js';

export interface NotificationCounts {
  readonly statements: number;
  readonly notifications: number;
  /** Of all payloads, each once. */
  readonly bytes: number;
  /** Each notification once for each node that receives it. */
  readonly deliveries: number;
}

export class NotificationHub {
  #counts: NotificationCounts = { statements: 0, notifications: 0, bytes: 0, deliveries: 0 };
  readonly #listeners = new Set<(message: { readonly payload: string }) => void>();

  connect(): Promise<ListeningConnection> {
    const listeners = this.#listeners;
    let own: ((message: { readonly payload: string }) => void) | null = null;
    let ended: () => void = () => undefined;
    const connection: ListeningConnection = {
      query: () => Promise.resolve(),
      escapeIdentifier: (name) => name,
      on(event: string, listener: (message: { readonly payload: string }) => void) {
        if (event === 'notification') listeners.add((own = listener));
        else ended = () => listener({ payload: '' });
      },
      connection: {
        stream: {
          destroy() {
            if (own !== null) listeners.delete(own);
            ended();
          },
        },
      },
    };
    return Promise.resolve(connection);
  }

  notify(payloads: readonly string[]): Promise<void> {
    const { bytes, deliveries, notifications, statements } = this.#counts;
    this.#counts = {
      statements: statements + 1,
      notifications: notifications + payloads.length,
      bytes: bytes + payloads.reduce((sum, { length }) => sum + length, 0),
      deliveries: deliveries + payloads.length * this.#listeners.size,
    };
    for (const payload of payloads) for (const listener of this.#listeners) listener({ payload });
    return Promise.resolve();
  }

  snapshot(): NotificationCounts {
    return this.#counts;
  }
}
