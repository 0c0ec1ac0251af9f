/** Ids and hashes. The server creates the ids of everything durable here; the store never does. */
import { hash, randomFillSync } from 'node:crypto';

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

/** Creates everything that is random in ids and tokens. Tests and simulations replace it. */
export interface Ids {
  readonly newId: (now: number) => string;
  /** 256 random bits in base64url, of an API key. */
  readonly newSecret: () => string;
  readonly newToken: (
    activityId: string,
    leaseMs: number | null,
    /** Whether the lease is bound to the token; default: true. Nodes of earlier versions do not know such tokens. */
    isBound?: boolean,
  ) => ActivityToken & { readonly token: string };
}

/** A call to the operating system costs far more than the bytes, so one call fetches them for many ids and tokens. */
const POOL_BYTES = 4096;

/** @param fill fills the bytes at random */
export function createIds(fill: (bytes: Buffer) => void): Ids {
  const bytes = new RandomBytes(fill);
  const nextId = idMaker(bytes);
  return {
    newId: nextId,
    newSecret: () => bytes.take(32).toString('base64url'),
    newToken: (activityId, leaseMs, isBound = true) =>
      newToken(bytes, activityId, { leaseMs, isBound }),
  };
}

/**
 * An id of 26 characters: 10 for the time in milliseconds, 4 for a counter within this process, 12 random (60 bits). Ids of
 * one process sort in order of creation.
 */
function idMaker(randomBytes: RandomBytes): Ids['newId'] {
  let lastTime = 0;
  let sequence = 0;
  return (now) => {
    if (now > lastTime) {
      lastTime = now;
      sequence = 0;
    } else {
      sequence += 1;
    }
    let random = '';
    for (const byte of randomBytes.take(12)) random += digit(byte % 32);
    return encode(lastTime, 10) + encode(sequence, 4) + random;
  };
}

/** Random bytes that are suitable for secrets: each is used once, and erased here. */
class RandomBytes {
  readonly #fill: (bytes: Buffer) => void;
  readonly #pool = Buffer.alloc(POOL_BYTES);
  #taken = POOL_BYTES;

  constructor(fill: (bytes: Buffer) => void) {
    this.#fill = fill;
  }

  take(count: number): Buffer {
    if (this.#taken + count > POOL_BYTES) {
      this.#fill(this.#pool);
      this.#taken = 0;
    }
    const end = this.#taken + count;
    const bytes = Buffer.from(this.#pool.subarray(this.#taken, end));
    this.#pool.fill(0, this.#taken, end);
    this.#taken = end;
    return bytes;
  }
}

function encode(value: number, length: number): string {
  let text = '';
  let rest = value;
  for (let place = 0; place < length; place += 1) {
    text = digit(rest % 32) + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}

function digit(value: number): string {
  return ALPHABET.charAt(value);
}

/** A hash of several strings that distinguishes `'ab', 'c'` from `'a', 'bc'`. */
export function hashOf(...parts: readonly string[]): string {
  return hash('sha256', JSON.stringify(parts), 'base64url');
}

/** A number from 0 to 1, excluding 1, that is always the same for the same strings. */
export function fractionOf(...parts: readonly string[]): number {
  const bits = hash('sha256', JSON.stringify(parts), 'hex').slice(0, 12);
  return Number.parseInt(bits, 16) / 2 ** 48;
}

/** The key by which events match subscriptions of the same name and key. */
export function nameKeyOf(name: string, key: string): string {
  return hashOf(name, key);
}

/** The pointer and attempt in the id of an activity or a subscription, see the engine's `executionKey`. */
export function readExecutionKey(id: string): {
  readonly pointerId: number;
  readonly attempt: number;
} {
  const [attempt, pointerId] = id.split('/').toReversed().map(Number);
  return { pointerId: pointerId ?? 0, attempt: attempt ?? 0 };
}

export interface ActivityToken {
  readonly activityId: string;
  readonly tokenHash: string;
  /** The lease with which the item was claimed; null if it has no end. If it is not bound, it is only what the caller says. */
  readonly leaseMs: number | null;
}

/**
 * A token contains the id of its item, so that completing the item touches one document, and 128 random bits as proof. It
 * ends with the seconds of its lease, so that a heartbeat need not repeat them. A bound lease is part of what the store keeps
 * the hash of: with another one, it is the token of nothing.
 */
function newToken(
  bytes: RandomBytes,
  activityId: string,
  { isBound, leaseMs }: { readonly leaseMs: number | null; readonly isBound: boolean },
): ActivityToken & { readonly token: string } {
  const secret = bytes.take(16).toString('base64url');
  const seconds = leaseMs === null ? null : String(Math.ceil(leaseMs / 1000));
  const lease = seconds === null ? '' : `.${isBound ? BOUND : ''}${seconds}`;
  const token = `${Buffer.from(activityId).toString('base64url')}.${secret}${lease}`;
  const tokenHash = isBound && seconds !== null ? hashOf(secret, seconds) : hashOf(secret);
  return { token, activityId, tokenHash, leaseMs };
}

const BOUND = 'L';

/** Returns null for text that is not a token of this server. */
export function readToken(token: string): ActivityToken | null {
  const match = /^([\w-]{1,400})\.([\w-]{22})(?:\.(L?)(\d{1,9}))?$/.exec(token);
  if (match === null) return null;
  const [, name = '', secret = '', mark, leaseSeconds] = match;
  const isBound = mark === BOUND && leaseSeconds !== undefined;
  return {
    activityId: Buffer.from(name, 'base64url').toString(),
    tokenHash: isBound ? hashOf(secret, leaseSeconds) : hashOf(secret),
    leaseMs: leaseSeconds === undefined ? null : Number(leaseSeconds) * 1000,
  };
}

/** Of this process. */
export const systemIds: Ids = createIds(randomFillSync);
