/** Converts webhooks between their stored form and the client view. */
import { readJson, writeJson } from '../../engine/values/exact-json.js';
import type { ResourceRecord } from '../../store/records/resources.js';
import type { WebhookEffect, WebhookScheme, WebhookView } from './webhook-types.js';

/** The text of a stored webhook. */
export interface StoredWebhook {
  readonly signing: WebhookScheme;
  readonly effect: WebhookEffect;
  readonly sealedSecret: string;
  readonly changedBy: string;
  readonly changedAt: number;
}

/** The place that a secret is sealed for: it can't be opened for another webhook. */
export function secretPlace(name: string): string {
  return `webhook ${name}`;
}

export function writeWebhook(webhook: StoredWebhook): string {
  // A webhook consists of JSON values.
  return writeJson(webhook);
}

export function readWebhook({ body }: ResourceRecord): StoredWebhook {
  // Written by `writeWebhook`.
  return readJson(body) as unknown as StoredWebhook;
}

export function viewWebhook(
  name: string,
  { changedAt, changedBy, effect, signing }: StoredWebhook,
): WebhookView {
  return { name, signing, effect, changedBy, changedAt };
}
