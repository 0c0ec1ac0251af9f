/** `stepwright scripts`: lists and prints the custom step scripts on a server. */
import type { StepSummary } from '../../api/wire/models/step.js';
import { readVersion } from '../arguments/values.js';
import { pathTo } from '../connection/server-client.js';
import { relativeTime } from '../output/times.js';
import { resource, withKey } from './resource-command.js';
import { serverCommand, type Call } from './server-command.js';

const KEY = ['script', 'the name of a script'] as const;

const show = serverCommand({
  description: 'print a script',
  declare: (command) =>
    withKey({ key: KEY })(command).option(
      '--version <number>',
      'the version; default: the latest',
      readVersion,
    ),
  run: async (
    { connect, options: { version }, output }: Call<{ readonly version?: number }>,
    name: string,
  ) => {
    const client = await connect();
    const source = await client.text('GET', pathTo`/api/step/${name}`, { query: { version } });
    output.result({ name, source }, () => output.text(source));
  },
});

export const scripts = resource<StepSummary>({
  description: 'the scripts of custom steps on a server',
  noun: 'script',
  path: '/api/step',
  key: KEY,
  pageSize: 50,
  columns: [
    { title: 'SCRIPT', text: ({ name }) => name },
    { title: 'VERSION', text: ({ version }) => String(version), alignRight: true },
    { title: 'STORED', text: ({ createdAt }, now) => relativeTime(createdAt, now) },
    { title: 'BY', isOptional: true, text: ({ createdBy }) => createdBy ?? '', canShrink: true },
  ],
  commands: { list: 'list scripts', show, versions: 'list the versions of a script, newest first' },
});
