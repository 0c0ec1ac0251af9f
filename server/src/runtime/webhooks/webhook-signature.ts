/**
 * Verifies the signatures of webhook calls, over the bytes as received.
 *
 * - `standard`: https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 * - `github`: https://docs.github.com/webhooks/using-webhooks/validating-webhook-deliveries
 * - `stripe`: https://docs.stripe.com/webhooks#verify-manually
 * - `slack`: https://docs.slack.dev/authentication/verifying-requests-from-slack
 * - `hmac`: any other sender that signs only the body.
 *
 *  WI1 Signatures are compared in constant time.
 *  WI2 If the sender signs a time, a call is rejected if that time is more than five minutes in the past or future.
 *  WI5 The signature is always computed over the whole body, whatever else is wrong with the call: otherwise, the response time
 *      would distinguish an old call from one with a wrong signature, and so reveal which webhooks exist.
 *  WI6 Signed text is unambiguous: neither an id nor a time contains the character that ends it. So an attacker can't move the
 *      end of an id into the time or the body, and replay a delivery under another id.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { getField, isJsonObject, type Json } from '../../engine/values/json.js';
import { standardKey } from '../notifications/standard-webhook.js';
import type { IncomingDelivery, WebhookScheme } from './webhook-types.js';

const TOLERANCE_MS = 5 * 60_000;
/** Maximum number of signatures in one header, more than any sender has keys. */
const SIGNATURES_MAX = 20;

/** The signed text is `id.time.body`. */
const STANDARD_ID = /^[^.]+$/;

type Signed = Pick<IncomingDelivery, 'bytes' | 'headers'>;

export function isSignatureValid(
  signing: WebhookScheme,
  secret: string,
  delivery: Signed,
  now: number,
): boolean {
  const { headers } = delivery;
  switch (signing.scheme) {
    case 'standard': {
      const id = headers['webhook-id'];
      const time = headers['webhook-timestamp'];
      const expected = hmac('sha256', standardKey(secret), delivery.bytes, `${id}.${time}.`);
      const sent = (headers['webhook-signature'] ?? '').split(' ');
      const isSigned = isAmong(expected, sent, 'v1,', 'base64');
      return isSigned && id !== undefined && STANDARD_ID.test(id) && isRecent(time, now);
    }
    case 'github': {
      const expected = hmac('sha256', secret, delivery.bytes);
      return isAmong(expected, [headers['x-hub-signature-256'] ?? ''], 'sha256=', 'hex');
    }
    case 'stripe': {
      const parts = (headers['stripe-signature'] ?? '').split(',').map((part) => part.trim());
      const time = parts.find((part) => part.startsWith('t='))?.slice(2);
      const expected = hmac('sha256', secret, delivery.bytes, `${time}.`);
      return isAmong(expected, parts, 'v1=', 'hex') && isRecent(time, now);
    }
    case 'slack': {
      const time = headers['x-slack-request-timestamp'];
      const expected = hmac('sha256', secret, delivery.bytes, `v0:${time}:`);
      const isSigned = isAmong(expected, [headers['x-slack-signature'] ?? ''], 'v0=', 'hex');
      return isSigned && isRecent(time, now);
    }
    case 'hmac': {
      const { algorithm, encoding, header, prefix } = signing;
      const expected = hmac(algorithm, secret, delivery.bytes);
      return isAmong(expected, [headers[header.toLowerCase()] ?? ''], prefix, encoding);
    }
  }
}

/** The id that identifies repeated deliveries; null: it has none. */
export function deliveryIdOf(
  signing: WebhookScheme,
  headers: IncomingDelivery['headers'],
  body: Json,
): string | null {
  switch (signing.scheme) {
    case 'standard':
      return headers['webhook-id'] ?? null;
    case 'github':
      return headers['x-github-delivery'] ?? null;
    case 'stripe':
      return textMember(body, 'id');
    case 'slack':
      return textMember(body, 'event_id') ?? headers['x-slack-signature'] ?? null;
    case 'hmac':
      return signing.idHeader === null ? null : (headers[signing.idHeader.toLowerCase()] ?? null);
  }
}

function textMember(body: Json, name: string): string | null {
  const value = isJsonObject(body) ? getField(body, name) : null;
  return typeof value === 'string' ? value : null;
}

function isRecent(seconds: string | undefined, now: number): boolean {
  if (seconds === undefined || !/^\d{1,15}$/.test(seconds)) return false;
  return Math.abs(now - Number(seconds) * 1000) <= TOLERANCE_MS;
}

function hmac(algorithm: string, key: string | Buffer, bytes: Uint8Array, before = ''): Buffer {
  return createHmac(algorithm, key).update(before).update(bytes).digest();
}

function isAmong(
  expected: Buffer,
  sent: readonly string[],
  prefix: string,
  encoding: 'hex' | 'base64',
): boolean {
  const text = Buffer.from(expected.toString(encoding));
  return (
    sent
      .filter((signature) => signature.startsWith(prefix))
      .slice(0, SIGNATURES_MAX)
      .map((signature) => signature.slice(prefix.length))
      // Some senders write hexadecimal digits as capitals.
      .map((signature) => Buffer.from(encoding === 'hex' ? signature.toLowerCase() : signature))
      .map((signature) => signature.length === text.length && timingSafeEqual(signature, text))
      .includes(true)
  );
}
