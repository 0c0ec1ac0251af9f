/** `stepwright webhooks`: manages webhooks for signed calls from other systems. */
import type { Webhook } from '../../api/wire/models/webhook.js';
import { readObject } from '../arguments/data.js';
import { connect } from '../connection/connect.js';
import type { ServerCommandOptions } from '../connection/options.js';
import type { Page } from '../connection/pages.js';
import { jsonContent, pathTo } from '../connection/server-client.js';
import { Output } from '../output/output.js';
import { noteMore } from '../output/runs.js';
import { fullTime } from '../output/times.js';

export interface PutOptions extends ServerCommandOptions {
  readonly body: readonly string[];
}

export async function listWebhooks(options: ServerCommandOptions): Promise<void> {
  const client = await connect(options);
  const page = await client.get<Page<Webhook>>('/api/webhook');
  const output = new Output();
  if (options.json) {
    output.json(page);
    return;
  }
  if (page.items.length > 0) {
    output.table(page.items, [
      { title: 'WEBHOOK', text: ({ name }) => name },
      { title: 'SCHEME', text: ({ scheme }) => scheme },
      { title: 'DOES', text: effectOf, canShrink: true },
      { title: 'PATH', isOptional: true, text: ({ path }) => path },
    ]);
  }
  noteMore(output, page, 'webhooks');
}

export async function putWebhook(name: string, options: PutOptions): Promise<void> {
  const body = jsonContent(await readObject(options.body, '--body'));
  const client = await connect(options);
  const path = pathTo`/api/webhook/${name}`;
  printWebhook(await client.send<Webhook>('PUT', path, { body }), options);
}

export async function showWebhook(name: string, options: ServerCommandOptions): Promise<void> {
  const client = await connect(options);
  printWebhook(await client.get<Webhook>(pathTo`/api/webhook/${name}`), options);
}

export async function removeWebhook(name: string, options: ServerCommandOptions): Promise<void> {
  const client = await connect(options);
  await client.send<null>('DELETE', pathTo`/api/webhook/${name}`);
  new Output().removed('webhook', { name }, options);
}

function printWebhook(webhook: Webhook, { json }: ServerCommandOptions): void {
  const output = new Output();
  if (json) {
    output.json(webhook);
    return;
  }
  const { changedBy, changedTime, name, path, scheme } = webhook;
  output.pairs([
    ['Webhook', name],
    ['Path', path],
    ['Scheme', scheme],
    ['Does', effectOf(webhook)],
    ['Changed', `${fullTime(changedTime, output.now)} by ${changedBy}`],
  ]);
}

function effectOf({ publish, start }: Webhook): string {
  if (publish !== undefined) return `publish ${publish.name} with key ${publish.key}`;
  return `start ${start?.definitionId ?? ''}`;
}
