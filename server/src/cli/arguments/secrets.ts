/** The command about secrets. */
import type { Command } from 'commander';
import { withOutput, type ServerCommandOptions } from '../connection/options.js';

export function addSecretCommands(program: Command): void {
  withOutput(
    program
      .command('secrets')
      .description('list the names of secrets and the definitions that use them'),
  ).action(async (options: ServerCommandOptions) => {
    const { listSecrets } = await import('../commands/secrets.js');
    await listSecrets(options);
  });
}
