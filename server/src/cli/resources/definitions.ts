/** `stepwright definitions`: lists, shows, enables and disables the definitions on a server. */
import type { DefinitionDocument, DefinitionSummary } from '../../api/wire/models/definition.js';
import { readVersion } from '../arguments/values.js';
import { pathTo } from '../connection/server-client.js';
import { plain } from '../output/plain-text.js';
import { relativeTime } from '../output/times.js';
import { resource, withKey } from './resource-command.js';
import { serverCommand, type AddCommand, type Call } from './server-command.js';

interface ShowOptions {
  readonly version?: number;
  /** Prints only the text. */
  readonly source: boolean;
}

const KEY = ['definition', 'the id of a definition'] as const;

const show = serverCommand({
  description: 'show a definition, with its original text',
  declare: (command) =>
    withKey({ key: KEY })(command)
      .option('--version <number>', 'the version; default: the latest', readVersion)
      .option('--source', 'print only the text', false),
  run: async ({ connect, options, output }: Call<ShowOptions>, id: string) => {
    const client = await connect();
    const path = pathTo`/api/definition/${id}`;
    const found = await client.get<DefinitionDocument>(path, { version: options.version });
    await output.result(found, async () => {
      const query = { version: found.version, source: true };
      const text = await client.text('GET', path, { query });
      if (!options.source) {
        output.pairs([
          ['Definition', found.id],
          ['Version', String(found.version)],
          ['Origin', found.origin ?? ''],
          ['State', stateOf(found), found.disabled === true ? 'yellow' : null],
        ]);
        output.line();
      }
      output.text(text);
    });
  },
});

/** Processes definitions one by one; the first failure ends the command. */
function switchCommand(action: 'disable' | 'enable', description: string): AddCommand {
  return serverCommand({
    description,
    declare: (command) => command.argument('<definitions...>', 'the ids of definitions'),
    run: async ({ connect, output }: Call, ids: readonly string[]) => {
      const client = await connect();
      for (const id of ids) {
        const path = `${pathTo`/api/definition/${id}`}/${action}`;
        const changed = await client.send<DefinitionDocument>('PUT', path);
        output.entry(changed, () => output.line(`${plain(id)}: ${stateOf(changed)}`));
      }
    },
  });
}

export const definitions = resource<DefinitionSummary>({
  description: 'the definitions on a server',
  noun: 'definition',
  path: '/api/definition',
  key: KEY,
  pageSize: 50,
  columns: [
    { title: 'DEFINITION', text: ({ id }) => id },
    { title: 'VERSION', text: ({ version }) => String(version), alignRight: true },
    { title: 'STATE', text: stateOf, style: ({ disabled }) => (disabled ? 'yellow' : null) },
    { title: 'STORED', text: ({ createdAt }, now) => relativeTime(createdAt, now) },
    { title: 'BY', isOptional: true, text: ({ createdBy }) => createdBy ?? '', canShrink: true },
    { title: 'ORIGIN', isOptional: true, text: ({ origin }) => origin ?? '', canShrink: true },
    {
      title: 'DESCRIPTION',
      isOptional: true,
      text: ({ description }) => description ?? '',
      canShrink: true,
    },
  ],
  commands: {
    list: 'list definitions, each in its latest version',
    show,
    versions: 'list the versions of a definition, newest first',
    disable: switchCommand('disable', 'disable definitions: no new runs start, open runs continue'),
    enable: switchCommand('enable', 'allow new runs of definitions again'),
  },
});

function stateOf({ disabled }: Pick<DefinitionDocument, 'disabled'>): string {
  return disabled === true ? 'disabled' : 'enabled';
}
