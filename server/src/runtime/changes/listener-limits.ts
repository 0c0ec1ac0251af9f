/** Limits the number of change listeners on a node: in total, per caller and per address. */
import { AppError } from '../../base/errors.js';
import type { Caller } from '../../base/limits/current-caller.js';

const WATCHES_MAX = 500;
/** Several callers may have one address, such as that of a proxy. */
const OF_ADDRESS_MAX = WATCHES_MAX / 2;
const OF_CALLER_MAX = WATCHES_MAX / 4;

export class ListenerLimits {
  #taken = 0;
  readonly #byCaller = new Map<string, number>();

  get taken(): number {
    return this.#taken;
  }

  /** The returned function releases the permit. @throws AppError `too_many_requests` */
  take(caller: Caller | null): () => void {
    if (this.#taken >= WATCHES_MAX) throw refusal('on this server');
    const shares = caller === null ? [] : sharesOf(caller);
    for (const { key, max, of } of shares) {
      if ((this.#byCaller.get(key) ?? 0) >= max) throw refusal(of);
    }
    const count = (more: number): void => {
      this.#taken += more;
      for (const { key } of shares) {
        const left = (this.#byCaller.get(key) ?? 0) + more;
        if (left === 0) this.#byCaller.delete(key);
        else this.#byCaller.set(key, left);
      }
    };
    count(1);
    return () => count(-1);
  }
}

interface Share {
  readonly key: string;
  readonly max: number;
  readonly of: string;
}

function sharesOf({ address, key }: Caller): readonly Share[] {
  const ofAddress = { key: `address:${address}`, max: OF_ADDRESS_MAX, of: 'from this address' };
  // A caller without a subject is identified by its address.
  return key === ofAddress.key
    ? [ofAddress]
    : [ofAddress, { key, max: OF_CALLER_MAX, of: 'with this subject' }];
}

function refusal(where: string): AppError {
  return new AppError('too_many_requests', `Too many change streams are open ${where}`, {
    retryAfterSeconds: 5,
  });
}
