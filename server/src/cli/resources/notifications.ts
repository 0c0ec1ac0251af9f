/** `stepwright notifications`: manages notifications about runs, and their deliveries. */
import { Option } from 'commander';
import type { Delivery, Notification } from '../../api/wire/models/notification.js';
import { withPage } from '../connection/options.js';
import { pathTo } from '../connection/server-client.js';
import { EXIT_CODES } from '../exit-codes.js';
import type { Output } from '../output/output.js';
import { fullTime, relativeTime } from '../output/times.js';
import { resource, withKey } from './resource-command.js';
import { listCommand, serverCommand, type Call } from './server-command.js';

const KEY = ['name', 'the name of a notification'] as const;
const STATES: readonly Delivery['state'][] = ['waiting', 'delivered', 'failed'];

const test = serverCommand({
  description: 'send a test message and show the response',
  declare: withKey({ key: KEY }),
  run: async ({ connect, output }: Call, name: string) => {
    const client = await connect();
    const path = pathTo`/api/notification/${name}/test`;
    const delivery = await client.send<Delivery>('POST', path);
    printDelivery(output, delivery);
    return delivery.state === 'delivered' ? EXIT_CODES.done : EXIT_CODES.failed;
  },
});

const deliveries = listCommand<Delivery, { readonly state?: string }, [name: string]>({
  description: 'list the deliveries of a notification, newest first',
  declare: (command) =>
    withPage(
      withKey({ key: KEY })(command).addOption(
        new Option('--state <state>', 'only in this state').choices(STATES),
      ),
      20,
    ),
  path: (name) => pathTo`/api/notification/${name}/deliveries`,
  query: ({ state }) => ({ state }),
  nouns: 'deliveries',
  columns: [
    { title: 'DELIVERY', text: ({ id }) => id },
    { title: 'TYPE', text: ({ type }) => type, canShrink: true },
    { title: 'STATE', text: ({ state }) => state },
    {
      title: 'ATTEMPTS',
      isOptional: true,
      text: ({ attempts }) => String(attempts),
      alignRight: true,
    },
    { title: 'CREATED', text: ({ createdTime }, now) => relativeTime(createdTime, now) },
    { title: 'ANSWER', text: answerOf, canShrink: true },
    { title: 'RUN', isOptional: true, text: ({ workflowId }) => workflowId ?? '' },
  ],
});

const redeliver = serverCommand({
  description: 'send a delivery again, in any state',
  declare: (command) =>
    withKey({ key: KEY })(command).argument('<delivery>', 'the id of a delivery'),
  run: async ({ connect, output }: Call, name: string, id: string) => {
    const client = await connect();
    const path = pathTo`/api/notification/${name}/deliveries/${id}/redeliver`;
    printDelivery(output, await client.send<Delivery>('POST', path));
  },
});

export const notifications = resource<Notification>({
  description: 'notify other servers about runs',
  noun: 'notification',
  path: '/api/notification',
  key: KEY,
  columns: [
    { title: 'NOTIFICATION', text: ({ name }) => name },
    { title: 'STATE', text: ({ paused }) => (paused ? 'paused' : 'active') },
    { title: 'ON', text: ({ on }) => on.join(', ') },
    { title: 'DEFINITION', isOptional: true, text: ({ definitionId }) => definitionId ?? '' },
    { title: 'URL', text: ({ url }) => url, canShrink: true },
  ],
  pairs: (notification, now) => [
    ['Notification', notification.name],
    ['State', notification.pausedBecause ?? 'active'],
    ['URL', notification.url],
    ['On', notification.on.join(', ')],
    ['Definition', notification.definitionId ?? ''],
    ['Where', notification.where.join(', ')],
    ['Includes', notification.include],
    ['Changed', `${fullTime(notification.changedTime, now)} by ${notification.changedBy}`],
  ],
  commands: {
    list: 'list notifications',
    put: 'set up a notification, or replace it',
    show: 'show a notification',
    pause: 'pause a notification; nothing is sent or recorded',
    resume: 'resume a paused notification',
    remove: 'remove a notification and its deliveries',
    test,
    deliveries,
    redeliver,
  },
});

function printDelivery(output: Output, delivery: Delivery): void {
  output.result(delivery, () =>
    output.pairs([
      ['Delivery', delivery.id],
      ['Type', delivery.type],
      ['Run', delivery.workflowId ?? ''],
      ['State', delivery.state],
      ['Attempts', String(delivery.attempts)],
      ['Answer', answerOf(delivery)],
    ]),
  );
}

function answerOf({ lastAnswer }: Delivery): string {
  if (lastAnswer === null) return '';
  const { body, error, status } = lastAnswer;
  return [status, error ?? body].filter((part) => part !== null && part !== '').join(' ');
}
