/** Ids and hashes. The server creates the ids of everything durable here; the store never does. */
import { hash, randomFillSync } from 'node:crypto';

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

let lastTime = 0;
let sequence = 0;

/**
 * An id of 26 characters: 10 for the time in milliseconds, 4 for a counter within this process, 12 random (60 bits). Ids of
 * one process sort in order of creation.
 */
export function newId(now: number): string {
  if (now > lastTime) {
    lastTime = now;
    sequence = 0;
  } else {
    sequence += 1;
  }
  let random = '';
  for (const byte of randomBytes(12)) random += digit(byte % 32);
  return encode(lastTime, 10) + encode(sequence, 4) + random;
}

/** A call to the operating system costs far more than the bytes, so one call fetches them for many ids and tokens. */
const pool = Buffer.alloc(4096);
let taken = pool.length;

/** Random bytes that are suitable for secrets: each is used once, and erased here. */
function randomBytes(count: number): Buffer {
  if (taken + count > pool.length) {
    randomFillSync(pool);
    taken = 0;
  }
  const bytes = Buffer.from(pool.subarray(taken, taken + count));
  pool.fill(0, taken, taken + count);
  taken += count;
  return bytes;
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
  /** The lease with which the item was claimed; null if it has no end. */
  readonly leaseMs: number | null;
}

/**
 * A token contains the id of its item, so that completing the item touches one document, and 128 random bits as proof. It
 * ends with the seconds of its lease, so that a heartbeat need not repeat them.
 */
export function newToken(
  activityId: string,
  leaseMs: number | null,
): ActivityToken & { readonly token: string } {
  const secret = randomBytes(16).toString('base64url');
  const lease = leaseMs === null ? '' : `.${Math.ceil(leaseMs / 1000)}`;
  const token = `${Buffer.from(activityId).toString('base64url')}.${secret}${lease}`;
  return { token, activityId, tokenHash: hashOf(secret), leaseMs };
}

/** Returns null for text that is not a token of this server. */
export function readToken(token: string): ActivityToken | null {
  const match = /^([\w-]{1,400})\.([\w-]{22})(?:\.(\d{1,9}))?$/.exec(token);
  if (match === null) return null;
  const [, name = '', secret = '', leaseSeconds] = match;
  return {
    activityId: Buffer.from(name, 'base64url').toString(),
    tokenHash: hashOf(secret),
    leaseMs: leaseSeconds === undefined ? null : Number(leaseSeconds) * 1000,
  };
}
