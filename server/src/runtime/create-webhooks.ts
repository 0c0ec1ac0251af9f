/** Connects the parts of webhooks. */
import type { NodeServicesOptions } from './node-options.js';
import { WebhookReceiver, type WebhookReceiverOptions } from './webhooks/webhook-receiver.js';
import { Webhooks } from './webhooks/webhooks.js';

export function createWebhooks(
  options: NodeServicesOptions,
  services: Pick<WebhookReceiverOptions, 'publisher' | 'starts'>,
) {
  const { publisher, starts } = services;
  const { webhookCallsPerMinuteMax } = options.settings;
  return {
    calls: new Webhooks(options),
    receiver: new WebhookReceiver({ ...options, publisher, starts, webhookCallsPerMinuteMax }),
  };
}
