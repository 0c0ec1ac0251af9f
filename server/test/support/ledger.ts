/** An HTTP target that records every call, in order, with its path and idempotency key. */
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface LedgerCall {
  readonly path: string;
  readonly key: string;
  readonly at: number;
}

export class Ledger {
  readonly calls: LedgerCall[] = [];
  readonly #server: Server;
  /** What the target does with a call after recording it. */
  respond: (call: LedgerCall, response: ServerResponse) => void = answerOk;

  private constructor() {
    this.#server = createServer((request, response) => {
      const call: LedgerCall = {
        path: request.url ?? '',
        key: String(request.headers['idempotency-key']),
        at: Date.now(),
      };
      this.calls.push(call);
      request.resume();
      this.respond(call, response);
    });
  }

  static async start(): Promise<Ledger> {
    const ledger = new Ledger();
    ledger.#server.listen(0, '127.0.0.1');
    await once(ledger.#server, 'listening');
    return ledger;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`; // The server listens on TCP.
  }

  /** The number of calls that repeated a known key. */
  get repeats(): number {
    return this.calls.length - new Set(this.calls.map(({ key }) => key)).size;
  }

  /** How many calls were made under each key. */
  get countByKey(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    for (const { key } of this.calls) counts.set(key, (counts.get(key) ?? 0) + 1);
    return counts;
  }

  callsTo(path: string): readonly LedgerCall[] {
    return this.calls.filter((call) => call.path === path);
  }

  async stop(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }
}

export function answerOk(_call: LedgerCall, response: ServerResponse): void {
  response.setHeader('content-type', 'application/json');
  response.end('{"ok":true}');
}

export function answerAfter(delayMs: number): Ledger['respond'] {
  return (call, response) => {
    setTimeout(() => answerOk(call, response), delayMs);
  };
}
