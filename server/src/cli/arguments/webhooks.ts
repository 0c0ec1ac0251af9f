/** Commands for webhooks. */
import type { Command } from 'commander';
import type { PutOptions } from '../commands/webhooks.js';
import { withOutput, type ServerCommandOptions } from '../connection/options.js';
import { collect } from './values.js';

export function addWebhookCommands(program: Command): void {
  const all = program
    .command('webhooks')
    .description('let signed calls from other systems publish events and start runs');
  withOutput(all.command('list').description('list webhooks')).action(
    async (options: ServerCommandOptions) => {
      const { listWebhooks } = await import('../commands/webhooks.js');
      await listWebhooks(options);
    },
  );
  const one = (name: string, description: string): Command =>
    all.command(name).description(description).argument('<name>', 'the name of a webhook');
  withOutput(
    one('put', 'set up a webhook, or replace it').requiredOption(
      '--body <json>',
      'the request body: JSON, @file, @- or name=value; repeatable',
      collect,
    ),
  ).action(async (name: string, options: PutOptions) => {
    const { putWebhook } = await import('../commands/webhooks.js');
    await putWebhook(name, options);
  });
  withOutput(one('show', 'show a webhook')).action(
    async (name: string, options: ServerCommandOptions) => {
      const { showWebhook } = await import('../commands/webhooks.js');
      await showWebhook(name, options);
    },
  );
  withOutput(one('remove', 'remove a webhook; its calls are rejected from then on')).action(
    async (name: string, options: ServerCommandOptions) => {
      const { removeWebhook } = await import('../commands/webhooks.js');
      await removeWebhook(name, options);
    },
  );
}
