/** API keys, as clients create and see them. Times are milliseconds since 1970. */

export interface ApiKeyRequest {
  readonly name: string;
  readonly scopes: readonly string[];
  /** Null: it doesn't expire. */
  readonly expiresAt: number | null;
  readonly actor: string;
}

export interface ApiKeyView {
  readonly id: string;
  /** Unique among existing keys. */
  readonly name: string;
  readonly scopes: readonly string[];
  readonly createdBy: string;
  readonly createdAt: number;
  readonly expiresAt: number | null;
  /** Approximate, to the minute; null: never. */
  readonly lastUsedAt: number | null;
}

/** The state of a key that a caller has used. */
export type ApiKeyState = 'Active' | 'Expired' | 'Removed';

export interface CreatedApiKey extends ApiKeyView {
  /** The key is shown only here. */
  readonly key: string;
}
