/** Which secrets a sender may sign with: whoever has one signed call can try short ones at any speed. */
import { secretProblem } from '../notifications/standard-webhook.js';
import type { WebhookScheme } from './webhook-types.js';

const LENGTH_MIN = 16;

/** What is wrong with a secret, beginning with "must"; null if it can be used. */
export function webhookSecretProblem(
  scheme: WebhookScheme['scheme'],
  secret: string,
): string | null {
  if (scheme === 'standard') return secretProblem(secret);
  if (secret.length >= LENGTH_MIN) return null;
  return `must have at least ${LENGTH_MIN} characters, such as the output of: openssl rand -hex 32`;
}
