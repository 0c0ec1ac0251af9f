/** `stepwright notifications`: manages notifications about runs, and their deliveries. */
import type { Delivery, Notification } from '../../api/wire/models/notification.js';
import { readObject } from '../arguments/data.js';
import { connect } from '../connection/connect.js';
import type { ServerCommandOptions } from '../connection/options.js';
import { readPages, type Page } from '../connection/pages.js';
import { jsonContent, pathTo } from '../connection/server-client.js';
import { EXIT_CODES, type ExitCode } from '../exit-codes.js';
import { Output } from '../output/output.js';
import { noteMore } from '../output/runs.js';
import { fullTime, relativeTime } from '../output/times.js';

export type NotificationChange = 'pause' | 'resume' | 'remove';

export interface PutOptions extends ServerCommandOptions {
  readonly body: readonly string[];
}

export interface DeliveriesOptions extends ServerCommandOptions {
  readonly state?: Delivery['state'];
  readonly limit: number;
  readonly cursor?: string;
}

export async function listNotifications(options: ServerCommandOptions): Promise<void> {
  const client = await connect(options);
  const page = await client.get<Page<Notification>>('/api/notification');
  const output = new Output();
  if (options.json) {
    output.json(page);
    return;
  }
  if (page.items.length > 0) {
    output.table(page.items, [
      { title: 'NOTIFICATION', text: ({ name }) => name },
      { title: 'STATE', text: ({ paused }) => (paused ? 'paused' : 'active') },
      { title: 'ON', text: ({ on }) => on.join(', ') },
      { title: 'DEFINITION', isOptional: true, text: ({ definitionId }) => definitionId ?? '' },
      { title: 'URL', text: ({ url }) => url, canShrink: true },
    ]);
  }
  noteMore(output, page, 'notifications');
}

export async function putNotification(name: string, options: PutOptions): Promise<void> {
  const body = jsonContent(await readObject(options.body, '--body'));
  const client = await connect(options);
  const path = pathTo`/api/notification/${name}`;
  printNotification(await client.send<Notification>('PUT', path, { body }), options);
}

export async function showNotification(name: string, options: ServerCommandOptions): Promise<void> {
  const client = await connect(options);
  printNotification(await client.get<Notification>(pathTo`/api/notification/${name}`), options);
}

export async function changeNotification(
  change: NotificationChange,
  name: string,
  options: ServerCommandOptions,
): Promise<void> {
  const client = await connect(options);
  if (change === 'remove') {
    await client.send<null>('DELETE', pathTo`/api/notification/${name}`);
    new Output().removed('notification', { name }, options);
    return;
  }
  const path = pathTo`/api/notification/${name}/${change}`;
  printNotification(await client.send<Notification>('PUT', path), options);
}

export async function testNotification(
  name: string,
  options: ServerCommandOptions,
): Promise<ExitCode> {
  const client = await connect(options);
  const path = pathTo`/api/notification/${name}/test`;
  const delivery = await client.send<Delivery>('POST', path);
  printDelivery(delivery, options);
  return delivery.state === 'delivered' ? EXIT_CODES.done : EXIT_CODES.failed;
}

export async function listDeliveries(
  name: string,
  { cursor, limit, state, ...options }: DeliveriesOptions,
): Promise<void> {
  const client = await connect(options);
  const path = pathTo`/api/notification/${name}/deliveries`;
  const page = await readPages<Delivery>(client, path, { cursor, limit, state });
  const output = new Output();
  if (options.json) {
    output.json(page);
    return;
  }
  if (page.items.length > 0) {
    output.table(page.items, [
      { title: 'DELIVERY', text: ({ id }) => id },
      { title: 'TYPE', text: ({ type }) => type, canShrink: true },
      { title: 'STATE', text: (delivery) => delivery.state },
      {
        title: 'ATTEMPTS',
        isOptional: true,
        text: ({ attempts }) => String(attempts),
        alignRight: true,
      },
      { title: 'CREATED', text: ({ createdTime }) => relativeTime(createdTime, output.now) },
      { title: 'ANSWER', text: answerOf, canShrink: true },
      { title: 'RUN', isOptional: true, text: ({ workflowId }) => workflowId ?? '' },
    ]);
  }
  noteMore(output, page, 'deliveries');
}

export async function redeliver(
  name: string,
  id: string,
  options: ServerCommandOptions,
): Promise<void> {
  const client = await connect(options);
  const path = pathTo`/api/notification/${name}/deliveries/${id}/redeliver`;
  printDelivery(await client.send<Delivery>('POST', path), options);
}

function printNotification(notification: Notification, { json }: ServerCommandOptions): void {
  const output = new Output();
  if (json) {
    output.json(notification);
    return;
  }
  const { changedBy, changedTime, definitionId, include, name, on, pausedBecause, url, where } =
    notification;
  output.pairs([
    ['Notification', name],
    ['State', pausedBecause ?? 'active'],
    ['URL', url],
    ['On', on.join(', ')],
    ['Definition', definitionId ?? ''],
    ['Where', where.join(', ')],
    ['Includes', include],
    ['Changed', `${fullTime(changedTime, output.now)} by ${changedBy}`],
  ]);
}

function printDelivery(delivery: Delivery, { json }: ServerCommandOptions): void {
  const output = new Output();
  if (json) {
    output.json(delivery);
    return;
  }
  output.pairs([
    ['Delivery', delivery.id],
    ['Type', delivery.type],
    ['Run', delivery.workflowId ?? ''],
    ['State', delivery.state],
    ['Attempts', String(delivery.attempts)],
    ['Answer', answerOf(delivery)],
  ]);
}

function answerOf({ lastAnswer }: Delivery): string {
  if (lastAnswer === null) return '';
  const { body, error, status } = lastAnswer;
  return [status, error ?? body].filter((part) => part !== null && part !== '').join(' ');
}
