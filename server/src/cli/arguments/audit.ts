/** The command about the audit log. */
import type { Command } from 'commander';
import type { AuditOptions } from '../commands/audit.js';
import { withOutput } from '../connection/options.js';
import { withPage } from './runs.js';
import { readPastTime } from './values.js';

export function addAuditCommand(program: Command): void {
  const command = program
    .command('audit')
    .description('list who changed what, when and from which address, newest first')
    .option('--actor <name>', 'the subject of a token, or the name of an API key')
    .option('--action <action>', 'an action such as workflow.suspend')
    .option('--target-kind <kind>', 'a kind of target, such as webhook')
    .option('--target-id <id>', 'the id or name of the changed object')
    .option('--address <address>', 'the client address of the calls')
    .option(
      '--from <time>',
      'only changes at or after this time: ISO 8601, or how long ago (2d)',
      readPastTime,
    )
    .option('--to <time>', 'only changes before this time', readPastTime);
  withOutput(withPage(command, 50)).action(async (options: AuditOptions) => {
    const { listAudit } = await import('../commands/audit.js');
    await listAudit(options);
  });
}
