/**
 * Signs messages according to Standard Webhooks: https://github.com/standard-webhooks/standard-webhooks
 *
 * The signature covers the id, the time and the body of a message. Receivers compare it, and reject old messages.
 */
import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';

const PREFIX = 'whsec_';
const KEY_BYTES = { min: 16, max: 256, created: 32 };
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** The problem with a secret; null if it is usable. */
export function secretProblem(secret: string): string | null {
  const { max, min } = KEY_BYTES;
  const key = keyTextOf(secret);
  const bytes = BASE64.test(key) ? Buffer.from(key, 'base64').length : 0;
  if (bytes >= min && bytes <= max) return null;
  return `must be ${PREFIX} followed by ${min} to ${max} random bytes in Base64, such as the output of: openssl rand -base64 ${KEY_BYTES.created}`;
}

export interface SignedMessage {
  readonly id: string;
  readonly sentAt: number;
  readonly body: string;
}

/** The key for this secret: created once, because it costs more than a signature. */
export function signingKey(secret: string): KeyObject {
  return createSecretKey(standardKey(secret));
}

/** The header fields of a message. */
export function webhookHeaders(
  key: KeyObject,
  { body, id, sentAt }: SignedMessage,
): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(sentAt / 1000));
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
  };
}

/** The bytes of the signing key. */
export function standardKey(secret: string): Buffer {
  return Buffer.from(keyTextOf(secret), 'base64');
}

function keyTextOf(secret: string): string {
  return secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret;
}
