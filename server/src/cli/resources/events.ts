/** `stepwright events`: lists events, shows one, or lists the runs waiting for one; `stepwright publish` publishes one. */
import type {
  EventSummary,
  EventWaiter,
  PublishedEvent,
  StoredEvent,
} from '../../api/wire/models/event.js';
import { readValue } from '../arguments/data.js';
import { withPage, type PageOptions } from '../connection/options.js';
import { jsonContent, pathTo } from '../connection/server-client.js';
import { misused } from '../failure.js';
import { jsonText, type Output } from '../output/output.js';
import type { Column } from '../output/table.js';
import { fullTime, relativeTime } from '../output/times.js';
import { printList, serverCommand, type Call } from './server-command.js';

interface EventsOptions extends PageOptions {
  readonly name?: string;
  readonly key?: string;
  readonly waiting: boolean;
}

interface PublishOptions {
  readonly data?: string;
  readonly run?: string;
  readonly idempotencyKey?: string;
}

const COLUMNS: readonly Column<EventSummary>[] = [
  { title: 'EVENT', text: ({ id }) => id },
  { title: 'NAME', text: ({ name }) => name, canShrink: true },
  { title: 'KEY', text: ({ key }) => key, canShrink: true },
  { title: 'PUBLISHED', text: ({ publishTime }, now) => relativeTime(publishTime, now) },
  { title: 'TAKEN BY', isOptional: true, text: takers, canShrink: true },
  {
    title: 'DATA',
    isOptional: true,
    text: ({ data, dataOmitted }) => (dataOmitted ? '(large)' : jsonText(data as object)),
    canShrink: true,
  },
];

const WAITER_COLUMNS: readonly Column<EventWaiter>[] = [
  { title: 'RUN', text: ({ workflowId }) => workflowId },
  { title: 'EXECUTION', text: ({ executionId }) => String(executionId), alignRight: true },
  { title: 'WAITING SINCE', text: ({ since }, now) => relativeTime(since, now) },
];

export const events = serverCommand({
  description: 'list published events, newest first, or show one',
  declare: (command) =>
    withPage(
      command
        .argument('[event]', 'the id of an event')
        .option('--name <name>', 'only with this name')
        .option('--key <key>', 'only with this key')
        .option('--waiting', 'list the runs waiting for --name and --key', false),
      20,
    ),
  run: async (call: Call<EventsOptions>, id?: string) => {
    const client = await call.connect();
    const { key, name, waiting } = call.options;
    if (id !== undefined) {
      printEvent(call.output, await client.get<StoredEvent>(pathTo`/api/event/${id}`));
      return;
    }
    if (!waiting) {
      const query = { key, name };
      const list = { path: '/api/event', query, columns: COLUMNS, nouns: 'events' };
      await printList(call, client, list);
      return;
    }
    if (name === undefined || key === undefined) throw misused('--waiting needs --name and --key');
    const path = pathTo`/api/event/${name}/${key}/waiting`;
    await printList(call, client, { path, columns: WAITER_COLUMNS, nouns: 'waiting runs' });
  },
});

export const publish = serverCommand({
  description: 'publish an event',
  declare: (command) =>
    command
      .argument('<name>', 'its name')
      .argument('<key>', 'its key')
      .option('-d, --data <data>', 'JSON, @file, @- or name=value')
      .option('--run <id>', 'only for this run')
      .option('--idempotency-key <key>', 'calls with the same key publish one event'),
  run: async ({ connect, options, output }: Call<PublishOptions>, name: string, key: string) => {
    const { idempotencyKey, run } = options;
    const client = await connect();
    const data = options.data === undefined ? null : await readValue(options.data, '--data');
    const published = await client.send<PublishedEvent>('POST', pathTo`/api/event/${name}/${key}`, {
      query: { workflowId: run },
      body: jsonContent(data),
      idempotencyKey,
    });
    output.result(published, () => {
      output.line(published.id);
      output.note(`Published; ${counted(published.deliveredTo, 'run')} waited for it.`);
    });
  },
});

function printEvent(output: Output, event: StoredEvent): void {
  const { data, deliveredTo } = event;
  output.result(event, () => {
    output.pairs([
      ['Event', event.id],
      ['Name', event.name],
      ['Key', event.key],
      ['Published', fullTime(event.publishTime, output.now)],
      ['Delivered', deliveredTo === null ? '' : `to ${counted(deliveredTo, 'run')}`],
    ]);
    output.line();
    output.line(output.paint('bold', 'Data'));
    output.json(data as object);
  });
}

function takers({ takenBy }: EventSummary): string {
  const [first, ...others] = takenBy;
  if (first === undefined) return '';
  return others.length === 0 ? first : `${first} and ${others.length} more`;
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
