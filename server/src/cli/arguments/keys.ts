/** Commands for API keys. */
import type { Command } from 'commander';
import type { CreateKeyOptions } from '../commands/keys.js';
import { withOutput, type ServerCommandOptions } from '../connection/options.js';
import { collect, readTimeOption } from './values.js';

export function addKeyCommands(program: Command): void {
  const all = program.command('keys').description('create and remove API keys');
  withOutput(
    all
      .command('create')
      .description('create an API key and print it, this one time')
      .argument('<name>', 'the name of the key holder')
      .requiredOption(
        '--scope <scope>',
        'a scope such as conductor:worker or conductor:viewer:order*; repeatable',
        collect,
      )
      .option('--expires <time>', 'the expiry time: ISO 8601', readTimeOption),
  ).action(async (name: string, options: CreateKeyOptions) => {
    const { createKey } = await import('../commands/keys.js');
    await createKey(name, options);
  });
  withOutput(all.command('list').description('list API keys with their last use')).action(
    async (options: ServerCommandOptions) => {
      const { listKeys } = await import('../commands/keys.js');
      await listKeys(options);
    },
  );
  withOutput(
    all
      .command('remove')
      .description('remove an API key; all nodes stop accepting it within a second')
      .argument('<id>', 'the id of a key'),
  ).action(async (id: string, options: ServerCommandOptions) => {
    const { removeKey } = await import('../commands/keys.js');
    await removeKey(id, options);
  });
}
