/** Slack calls a new URL once, and expects its challenge to be echoed: see `url_verification` in its documentation. */
import { isJsonObject, type Json } from '../../engine/values/json.js';
import type { StoredWebhook } from './webhook-codec.js';

const LENGTH_MAX = 1000;

/** Null: it is an ordinary call. */
export function challengeOf(
  { signing }: Pick<StoredWebhook, 'signing'>,
  body: Json,
): string | null {
  if (signing.scheme !== 'slack' || !isJsonObject(body)) return null;
  const { challenge, type } = body;
  if (type !== 'url_verification' || typeof challenge !== 'string') return null;
  return challenge.length <= LENGTH_MAX ? challenge : null;
}
