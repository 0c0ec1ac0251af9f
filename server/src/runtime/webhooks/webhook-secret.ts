/** Requirements on signing secrets: an attacker with one signed call can guess short secrets offline. */
import { secretProblem } from '../notifications/standard-webhook.js';
import type { WebhookScheme } from './webhook-types.js';

const LENGTH_MIN = 16;

/** The problem with a secret, beginning with "must"; null if it is usable. */
export function webhookSecretProblem(
  scheme: WebhookScheme['scheme'],
  secret: string,
): string | null {
  if (scheme === 'standard') return secretProblem(secret);
  if (secret.length >= LENGTH_MIN) return null;
  return `must have at least ${LENGTH_MIN} characters, such as the output of: openssl rand -hex 32`;
}
