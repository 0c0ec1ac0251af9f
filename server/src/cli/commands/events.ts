/** `stepwright events`: lists events, shows one, or lists the runs waiting for one; `stepwright publish` publishes one. */
import type {
  EventSummary,
  EventWaiter,
  PublishedEvent,
  StoredEvent,
} from '../../api/wire/models/event.js';
import { readValue } from '../arguments/data.js';
import { connect } from '../connection/connect.js';
import type { ServerCommandOptions } from '../connection/options.js';
import { readPages } from '../connection/pages.js';
import { jsonContent, pathTo, type ServerClient } from '../connection/server-client.js';
import { misused } from '../failure.js';
import { jsonText, Output } from '../output/output.js';
import { noteMore } from '../output/runs.js';
import { fullTime, relativeTime } from '../output/times.js';

export interface EventsOptions extends ServerCommandOptions {
  readonly name?: string;
  readonly key?: string;
  readonly waiting: boolean;
  readonly limit: number;
  readonly cursor?: string;
}

export async function events(id: string | undefined, options: EventsOptions): Promise<void> {
  const client = await connect(options);
  const output = new Output();
  if (id !== undefined) return showEvent(client, output, id, options);
  if (options.waiting) return listWaiters(client, output, options);
  const { cursor, key, limit, name } = options;
  const page = await readPages<EventSummary>(client, '/api/event', { cursor, key, limit, name });
  if (options.json) {
    output.json(page);
    return;
  }
  if (page.items.length > 0) {
    output.table(page.items, [
      { title: 'EVENT', text: (event) => event.id },
      { title: 'NAME', text: (event) => event.name, canShrink: true },
      { title: 'KEY', text: (event) => event.key, canShrink: true },
      { title: 'PUBLISHED', text: ({ publishTime }) => relativeTime(publishTime, output.now) },
      { title: 'TAKEN BY', isOptional: true, text: takers, canShrink: true },
      {
        title: 'DATA',
        isOptional: true,
        text: ({ data, dataOmitted }) => (dataOmitted ? '(large)' : jsonText(data as object)),
        canShrink: true,
      },
    ]);
  }
  noteMore(output, page, 'events');
}

function takers({ takenBy }: EventSummary): string {
  const [first, ...others] = takenBy;
  if (first === undefined) return '';
  return others.length === 0 ? first : `${first} and ${others.length} more`;
}

async function showEvent(
  client: ServerClient,
  output: Output,
  id: string,
  { json }: EventsOptions,
): Promise<void> {
  const event = await client.get<StoredEvent>(pathTo`/api/event/${id}`);
  if (json) {
    output.json(event);
    return;
  }
  const { deliveredTo } = event;
  output.pairs([
    ['Event', event.id],
    ['Name', event.name],
    ['Key', event.key],
    ['Published', fullTime(event.publishTime, output.now)],
    ['Delivered', deliveredTo === null ? '' : `to ${counted(deliveredTo, 'run')}`],
  ]);
  output.line();
  output.line(output.paint('bold', 'Data'));
  output.json(event.data as object);
}

async function listWaiters(
  client: ServerClient,
  output: Output,
  { cursor, json, key, limit, name }: EventsOptions,
): Promise<void> {
  if (name === undefined || key === undefined) throw misused('--waiting needs --name and --key');
  const page = await readPages<EventWaiter>(client, pathTo`/api/event/${name}/${key}/waiting`, {
    cursor,
    limit,
  });
  if (json) {
    output.json(page);
    return;
  }
  if (page.items.length > 0) {
    output.table(page.items, [
      { title: 'RUN', text: ({ workflowId }) => workflowId },
      { title: 'EXECUTION', text: ({ executionId }) => String(executionId), alignRight: true },
      { title: 'WAITING SINCE', text: ({ since }) => relativeTime(since, output.now) },
    ]);
  }
  noteMore(output, page, 'waiting runs');
}

export interface PublishOptions extends ServerCommandOptions {
  readonly data?: string;
  readonly run?: string;
  readonly idempotencyKey?: string;
}

export async function publish(name: string, key: string, options: PublishOptions): Promise<void> {
  const client = await connect(options);
  const data = options.data === undefined ? null : await readValue(options.data, '--data');
  const published = await client.send<PublishedEvent>('POST', pathTo`/api/event/${name}/${key}`, {
    query: { workflowId: options.run },
    body: jsonContent(data),
    idempotencyKey: options.idempotencyKey,
  });
  const output = new Output();
  if (options.json) {
    output.json(published);
    return;
  }
  output.line(published.id);
  output.note(`Published; ${counted(published.deliveredTo, 'run')} waited for it.`);
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
