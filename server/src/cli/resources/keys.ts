/** `stepwright keys`: manages API keys, the bearer tokens that can be revoked at any time. */
import type { ApiKey, CreatedApiKey } from '../../api/wire/models/key.js';
import { collect, readTimeOption } from '../arguments/values.js';
import { jsonContent } from '../connection/server-client.js';
import { relativeTime } from '../output/times.js';
import { resource } from './resource-command.js';
import { serverCommand, type Call } from './server-command.js';

interface CreateOptions {
  readonly scope: readonly string[];
  /** ISO 8601. */
  readonly expires?: string;
}

const create = serverCommand({
  description: 'create an API key and print it, this one time',
  declare: (command) =>
    command
      .argument('<name>', 'the name of the key holder')
      .requiredOption(
        '--scope <scope>',
        'a scope such as conductor:worker or conductor:viewer:order*; repeatable',
        collect,
      )
      .option('--expires <time>', 'the expiry time: ISO 8601', readTimeOption),
  /** Prints the key to standard output and everything else to standard error. */
  run: async ({ connect, options, output }: Call<CreateOptions>, name: string) => {
    const { expires, scope: scopes } = options;
    const client = await connect();
    // The server checks the scopes.
    const body = jsonContent({ name, scopes, ...(expires !== undefined && { expires }) });
    const created = await client.send<CreatedApiKey>('POST', '/api/key', { body });
    output.result(created, () => {
      output.note(`Created the key ${created.id}. It won't be shown again:`);
      output.line(created.key);
    });
  },
});

export const keys = resource<ApiKey>({
  description: 'create and remove API keys',
  noun: 'key',
  path: '/api/key',
  key: ['id', 'the id of a key'],
  columns: [
    { title: 'KEY', text: ({ id }) => id },
    { title: 'NAME', text: ({ name }) => name, canShrink: true },
    { title: 'SCOPES', text: ({ scopes }) => scopes.join(' '), canShrink: true },
    { title: 'LAST USED', text: ({ lastUsedTime }, now) => timeOrNever(lastUsedTime, now) },
    { title: 'EXPIRES', text: ({ expires }, now) => timeOrNever(expires, now) },
  ],
  commands: {
    create,
    list: 'list API keys with their last use',
    remove: 'remove an API key; all nodes stop accepting it within a second',
  },
});

function timeOrNever(time: string | null, now: number): string {
  return time === null ? 'never' : relativeTime(time, now);
}
