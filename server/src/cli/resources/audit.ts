/** `stepwright audit`: lists who changed what. */
import type { AuditEntry } from '../../api/wire/models/audit.js';
import { readPastTime } from '../arguments/values.js';
import { withPage } from '../connection/options.js';
import { relativeTime } from '../output/times.js';
import { listCommand } from './server-command.js';

interface AuditOptions {
  readonly actor?: string;
  readonly action?: string;
  readonly targetKind?: string;
  readonly targetId?: string;
  readonly address?: string;
  /** ISO 8601. */
  readonly from?: string;
  /** ISO 8601. */
  readonly to?: string;
}

export const audit = listCommand<AuditEntry, AuditOptions>({
  description: 'list who changed what, when and from which address, newest first',
  declare: (command) =>
    withPage(
      command
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
        .option('--to <time>', 'only changes before this time', readPastTime),
      50,
    ),
  path: () => '/api/audit',
  query: ({ action, actor, address, from, targetId, targetKind, to }) => ({
    action,
    actor,
    address,
    from,
    targetId,
    targetKind,
    to,
  }),
  nouns: 'entries',
  columns: [
    { title: 'TIME', text: ({ time }, now) => relativeTime(time, now) },
    { title: 'ACTOR', text: ({ actor }) => actor, canShrink: true },
    { title: 'ACTION', text: ({ action }) => action },
    { title: 'TARGET', text: ({ target }) => target.id, canShrink: true },
    { title: 'FROM', isOptional: true, text: ({ address }) => address },
    { title: 'DETAIL', isOptional: true, text: ({ detail }) => detail ?? '', canShrink: true },
  ],
});
