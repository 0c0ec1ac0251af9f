/**
 * Slots for calls: a maximum per host and in total, shared fairly by the calling definitions.
 *
 *  SL1 A definition may hold at most three times as many slots as are free. So there is always one for a definition that
 *      has none, until many definitions call at the same time, and a single one gets three quarters of all.
 *  SL2 Definitions that wait for a host take turns, each with its oldest call first.
 *  SL3 A call whose signal fires leaves the queue immediately.
 */
const SHARE = 3;

interface Waiter {
  readonly definitionId: string;
  readonly grant: () => void;
}

class Holders {
  readonly #max: number;
  readonly #held = new Map<string, number>();
  #total = 0;

  constructor(max: number) {
    this.#max = max;
  }

  get isEmpty(): boolean {
    return this.#total === 0;
  }

  admits(definitionId: string): boolean {
    return (this.#held.get(definitionId) ?? 0) < SHARE * (this.#max - this.#total);
  }

  change(definitionId: string, by: 1 | -1): void {
    const held = (this.#held.get(definitionId) ?? 0) + by;
    if (held === 0) this.#held.delete(definitionId);
    else this.#held.set(definitionId, held);
    this.#total += by;
  }
}

interface Host {
  readonly holders: Holders;
  /** By definition, starting with the one that is next. */
  readonly waiting: Map<string, Set<Waiter>>;
}

export class CallSlots {
  readonly #perHostMax: number;
  readonly #all: Holders;
  readonly #hosts = new Map<string, Host>();
  /** Hosts with a call that waits for one of the slots in total. */
  readonly #blocked = new Set<string>();

  constructor({
    perHostMax,
    totalMax,
  }: {
    readonly perHostMax: number;
    readonly totalMax: number;
  }) {
    this.#perHostMax = perHostMax;
    this.#all = new Holders(totalMax);
  }

  /** Waits for a slot; the returned function gives it back. Rejects if the signal fires first. */
  take(origin: string, definitionId: string, signal: AbortSignal): Promise<() => void> {
    const host = this.#hostOf(origin);
    return new Promise((resolve, reject) => {
      const waiting = host.waiting.get(definitionId) ?? new Set<Waiter>();
      host.waiting.set(definitionId, waiting);
      const giveUp = (): void => {
        waiting.delete(waiter);
        this.#forget(origin, host, definitionId);
        reject(new Error('the call was canceled while it was queued'));
      };
      const waiter: Waiter = {
        definitionId,
        grant: () => {
          signal.removeEventListener('abort', giveUp);
          resolve(this.#releaseOnce(origin, definitionId));
        },
      };
      if (signal.aborted) {
        giveUp();
        return;
      }
      waiting.add(waiter);
      signal.addEventListener('abort', giveUp, { once: true });
      this.#serve(origin);
    });
  }

  #releaseOnce(origin: string, definitionId: string): () => void {
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      const host = this.#hostOf(origin);
      host.holders.change(definitionId, -1);
      this.#all.change(definitionId, -1);
      this.#serve(origin);
      for (const blocked of [...this.#blocked]) this.#serve(blocked);
    };
  }

  /** Grants all possible slots at a host. */
  #serve(origin: string): void {
    const host = this.#hostOf(origin);
    this.#blocked.delete(origin);
    for (const definitionId of [...host.waiting.keys()])
      this.#serveDefinition(origin, host, definitionId);
    if (host.holders.isEmpty && host.waiting.size === 0) this.#hosts.delete(origin);
  }

  #serveDefinition(origin: string, host: Host, definitionId: string): void {
    const waiting = host.waiting.get(definitionId);
    const [waiter] = waiting ?? [];
    if (waiting === undefined || waiter === undefined || !host.holders.admits(definitionId)) return;
    if (!this.#all.admits(definitionId)) {
      this.#blocked.add(origin);
      return;
    }
    waiting.delete(waiter);
    host.holders.change(definitionId, 1);
    this.#all.change(definitionId, 1);
    // A definition that got a slot comes after the others next time.
    host.waiting.delete(definitionId);
    if (waiting.size > 0) host.waiting.set(definitionId, waiting);
    waiter.grant();
  }

  #hostOf(origin: string): Host {
    let host = this.#hosts.get(origin);
    if (host === undefined) {
      host = { holders: new Holders(this.#perHostMax), waiting: new Map() };
      this.#hosts.set(origin, host);
    }
    return host;
  }

  #forget(origin: string, host: Host, definitionId: string): void {
    if (host.waiting.get(definitionId)?.size === 0) host.waiting.delete(definitionId);
    if (host.holders.isEmpty && host.waiting.size === 0) this.#hosts.delete(origin);
  }
}
