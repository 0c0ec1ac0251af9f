/** `stepwright webhooks`: manages webhooks for signed calls from other systems. */
import type { Webhook } from '../../api/wire/models/webhook.js';
import { fullTime } from '../output/times.js';
import { resource } from './resource-command.js';

export const webhooks = resource<Webhook>({
  description: 'let signed calls from other systems publish events and start runs',
  noun: 'webhook',
  path: '/api/webhook',
  key: ['name', 'the name of a webhook'],
  columns: [
    { title: 'WEBHOOK', text: ({ name }) => name },
    { title: 'SCHEME', text: ({ scheme }) => scheme },
    { title: 'DOES', text: effectOf, canShrink: true },
    { title: 'PATH', isOptional: true, text: ({ path }) => path },
  ],
  pairs: (webhook, now) => [
    ['Webhook', webhook.name],
    ['Path', webhook.path],
    ['Scheme', webhook.scheme],
    ['Does', effectOf(webhook)],
    ['Changed', `${fullTime(webhook.changedTime, now)} by ${webhook.changedBy}`],
  ],
  commands: {
    list: 'list webhooks',
    put: 'set up a webhook, or replace it',
    show: 'show a webhook',
    remove: 'remove a webhook; its calls are rejected from then on',
  },
});

function effectOf({ publish, start }: Webhook): string {
  if (publish !== undefined) return `publish ${publish.name} with key ${publish.key}`;
  return `start ${start?.definitionId ?? ''}`;
}
