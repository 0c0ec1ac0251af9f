/**
 * A random idempotency key: 128 bits as 32 hexadecimal digits.
 *
 * Does not use `crypto.randomUUID`, which browsers provide only in secure contexts (HTTPS).
 */
export function newIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
