/** API keys, as clients create and see them. Times are milliseconds since 1970. */

export interface ApiKeyRequest {
  readonly name: string;
  readonly scopes: readonly string[];
  /** Null: it does not expire by itself. */
  readonly expiresAt: number | null;
  readonly actor: string;
}

export interface ApiKeyView {
  readonly id: string;
  /** Unique among the keys that exist. */
  readonly name: string;
  readonly scopes: readonly string[];
  readonly createdBy: string;
  readonly createdAt: number;
  readonly expiresAt: number | null;
  /** To the minute, roughly; null: never. */
  readonly lastUsedAt: number | null;
}

/** Of a key that somebody has used. */
export type ApiKeyState = 'Active' | 'Expired' | 'Removed';

export interface CreatedApiKey extends ApiKeyView {
  /** The only time that it is shown. */
  readonly key: string;
}
