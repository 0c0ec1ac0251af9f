/**
 * A random name for a call: 128 bits as text.
 *
 * Not `crypto.randomUUID`, which browsers offer to pages from `https:` alone.
 */
export function newIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
