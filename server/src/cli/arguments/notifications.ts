/** Commands for notifications. */
import { Argument, Option, type Command } from 'commander';
import { withOutput, type ServerCommandOptions } from '../connection/options.js';
import type {
  DeliveriesOptions,
  NotificationChange,
  PutOptions,
} from '../commands/notifications.js';
import { withPage } from './runs.js';
import { collect } from './values.js';

const CHANGES: Readonly<Record<NotificationChange, string>> = {
  pause: 'pause a notification; nothing is sent or recorded',
  resume: 'resume a paused notification',
  remove: 'remove a notification and its deliveries',
};

export function addNotificationCommands(program: Command): void {
  const all = program.command('notifications').description('notify other servers about runs');
  withOutput(all.command('list').description('list notifications')).action(
    async (options: ServerCommandOptions) => {
      const { listNotifications } = await import('../commands/notifications.js');
      await listNotifications(options);
    },
  );
  const one = (name: string, description: string): Command =>
    all.command(name).description(description).argument('<name>', 'the name of a notification');
  withOutput(
    one('put', 'set up a notification, or replace it').requiredOption(
      '--body <json>',
      'the request body: JSON, @file, @- or name=value; repeatable',
      collect,
    ),
  ).action(async (name: string, options: PutOptions) => {
    const { putNotification } = await import('../commands/notifications.js');
    await putNotification(name, options);
  });
  withOutput(one('show', 'show a notification')).action(
    async (name: string, options: ServerCommandOptions) => {
      const { showNotification } = await import('../commands/notifications.js');
      await showNotification(name, options);
    },
  );
  for (const [change, description] of Object.entries(CHANGES)) {
    withOutput(one(change, description)).action(
      async (name: string, options: ServerCommandOptions) => {
        const { changeNotification } = await import('../commands/notifications.js');
        await changeNotification(change as NotificationChange, name, options);
      },
    );
  }
  addDeliveries(one);
}

function addDeliveries(one: (name: string, description: string) => Command): void {
  withOutput(one('test', 'send a test message and show the response')).action(
    async (name: string, options: ServerCommandOptions) => {
      const { testNotification } = await import('../commands/notifications.js');
      process.exitCode = await testNotification(name, options);
    },
  );
  const state = new Option('--state <state>', 'only in this state').choices([
    'waiting',
    'delivered',
    'failed',
  ]);
  const deliveries = one('deliveries', 'list the deliveries of a notification, newest first');
  withOutput(withPage(deliveries.addOption(state), 20)).action(
    async (name: string, options: DeliveriesOptions) => {
      const { listDeliveries } = await import('../commands/notifications.js');
      await listDeliveries(name, options);
    },
  );
  const redeliver = one('redeliver', 'send a delivery again, in any state').addArgument(
    new Argument('<delivery>', 'the id of a delivery'),
  );
  withOutput(redeliver).action(
    async (name: string, delivery: string, options: ServerCommandOptions) => {
      const commands = await import('../commands/notifications.js');
      await commands.redeliver(name, delivery, options);
    },
  );
}
