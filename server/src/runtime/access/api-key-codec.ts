/** Converts API keys between their stored form, their text and the client view. */
import { hashOf } from '../../base/ids.js';
import type { ResourceRecord } from '../../store/records/resources.js';
import type { ApiKeyView } from './api-key-types.js';

/** The text of a stored key; its id is the name of the resource. */
export interface StoredApiKey extends Omit<ApiKeyView, 'id'> {
  /** The hash of the secret, which is random and too long to be guessed. */
  readonly secretHash: string;
}

const TEXT = /^sw_([a-z0-9]{8,64})_([\w-]{43})$/;

/** True if a bearer token has the form of an API key. */
export function isApiKey(bearer: string): boolean {
  return bearer.startsWith('sw_');
}

export function writeKeyText(id: string, secret: string): string {
  return `sw_${id}_${secret}`;
}

/** Null for text that isn't an API key. */
export function readKeyText(
  text: string,
): { readonly id: string; readonly secretHash: string } | null {
  const match = TEXT.exec(text);
  if (match === null) return null;
  const [, id = '', secret = ''] = match;
  return { id, secretHash: secretHashOf(secret) };
}

export function secretHashOf(secret: string): string {
  return hashOf('api key', secret);
}

export function writeApiKey(key: StoredApiKey): string {
  return JSON.stringify(key);
}

export function readApiKey({ body }: ResourceRecord): StoredApiKey {
  // Written by `writeApiKey`.
  return JSON.parse(body) as StoredApiKey;
}

export function viewApiKey(
  id: string,
  { createdAt, createdBy, expiresAt, lastUsedAt, name, scopes }: StoredApiKey,
): ApiKeyView {
  return { id, name, scopes, createdBy, createdAt, expiresAt, lastUsedAt };
}
