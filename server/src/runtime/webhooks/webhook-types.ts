/** Incoming webhooks, as clients set them up and see them. Times are milliseconds since 1970. */
import type { ConflictScope, OnConflict } from '../../engine/model/start-options.js';
import type { Json } from '../../engine/values/json.js';
import type { TraceHeaders } from '../../tracing/trace-context.js';

export const HMAC_ALGORITHMS = ['sha256', 'sha384', 'sha512'] as const;
export const HMAC_ENCODINGS = ['hex', 'base64'] as const;

/** How a sender signs its calls, see webhook-signature.ts. */
export type WebhookScheme =
  | { readonly scheme: 'standard' | 'github' | 'stripe' | 'slack' }
  | {
      readonly scheme: 'hmac';
      /** The name of the header with the signature. */
      readonly header: string;
      readonly algorithm: (typeof HMAC_ALGORITHMS)[number];
      readonly encoding: (typeof HMAC_ENCODINGS)[number];
      /** The text before the signature in its header. */
      readonly prefix: string;
      /** The name of the header with the id of the delivery; null: deliveries have no id. */
      readonly idHeader: string | null;
    };

/** The effect of a call. Members of type `Json` are input values: strings are expressions. */
export type WebhookEffect =
  | { readonly publish: { readonly name: Json; readonly key: Json; readonly data?: Json } }
  | {
      readonly start: {
        readonly definitionId: string;
        readonly data?: Json;
        readonly reference?: Json;
        readonly onConflict?: OnConflict;
        readonly conflictScope?: ConflictScope;
      };
    };

export interface WebhookRequest {
  readonly signing: WebhookScheme;
  readonly effect: WebhookEffect;
  /** Null: unchanged. */
  readonly secret: string | null;
  readonly actor: string;
}

export interface WebhookView {
  readonly name: string;
  readonly signing: WebhookScheme;
  readonly effect: WebhookEffect;
  readonly changedBy: string;
  readonly changedAt: number;
}

/** An unverified webhook call, with its span. */
export interface IncomingDelivery extends TraceHeaders {
  readonly bytes: Uint8Array;
  /** Keyed by lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string | readonly string[]>>;
  /** @throws AppError `unreadable_body`; called only after the signature was verified */
  readonly body: () => Promise<Json>;
}

/** The response to a sender's challenge. */
export interface ChallengeAnswer {
  readonly challenge: string;
}

export interface ReceivedDelivery {
  /** The id of the published event or the started run. */
  readonly id: string;
}
