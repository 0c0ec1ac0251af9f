/** `stepwright failures`: groups failed runs by cause. */
import { Option } from 'commander';
import type { FailureGroup, FailureGroups, FailureQuery } from '../../api/wire/models/failure.js';
import { collect, readLimit, readPastTime } from '../arguments/values.js';
import type { Output } from '../output/output.js';
import type { Column } from '../output/table.js';
import { relativeTime } from '../output/times.js';
import { serverCommand, type Call } from './server-command.js';

interface FailuresOptions {
  readonly definition?: string;
  readonly status?: NonNullable<FailureQuery['status']>;
  readonly failedFrom?: string;
  readonly failedTo?: string;
  readonly where?: string[];
  readonly order: NonNullable<FailureQuery['order']>;
  readonly limit: number;
}

const COLUMNS: readonly Column<FailureGroup>[] = [
  { title: 'KEY', text: ({ key }) => key },
  { title: 'RUNS', text: ({ count }) => String(count), alignRight: true },
  { title: 'FIRST', text: ({ firstTime }, now) => relativeTime(firstTime, now) },
  { title: 'LAST', isOptional: true, text: ({ lastTime }, now) => relativeTime(lastTime, now) },
  { title: 'NOW', isOptional: true, text: statesOf, canShrink: true },
  { title: 'STEP', text: placeOf, canShrink: true },
  { title: 'CAUSE', text: ({ message, type }) => `${type}: ${message}`, canShrink: true },
];

export const failures = serverCommand({
  description: 'list the causes of failures, with the number of runs for each',
  declare: (command) =>
    command
      .option('--definition <id>', 'only runs of this definition')
      .addOption(
        new Option('--status <status>', 'only runs with this status').choices([
          'Suspended',
          'Runnable',
          'Terminated',
        ]),
      )
      .option('--where <condition>', 'only runs that match the condition; repeatable', collect)
      .option('--failed-from <time>', 'with an error at or after this time', readPastTime)
      .option('--failed-to <time>', 'with an error before this time', readPastTime)
      .addOption(
        new Option('--order <order>', 'order by the number of runs, or by the newest error')
          .choices(['count', 'lastTime'])
          .default('count'),
      )
      .option('--limit <number>', 'the maximum number of groups', readLimit, 20),
  run: async ({ connect, options, output }: Call<FailuresOptions>) => {
    const { definition: definitionId, failedFrom, failedTo, limit, order, status, where } = options;
    const client = await connect();
    const groups = await client.get<FailureGroups>('/api/workflow/failures', {
      definitionId,
      status,
      failedFrom,
      failedTo,
      where,
      order,
      limit,
    });
    output.result(groups, () => {
      if (groups.items.length === 0) output.note('No run has failed.');
      else {
        output.table(groups.items, COLUMNS);
        noteRest(output, groups);
      }
    });
  },
});

function placeOf({ definitionId, stepId }: FailureGroup): string {
  return stepId === '' ? definitionId : `${definitionId}/${stepId}`;
}

function statesOf({ failed, retrying, suspended }: FailureGroup): string {
  const counts = [
    [suspended, 'suspended'],
    [retrying, 'retrying'],
    [failed, 'ended'],
  ] as const;
  return counts
    .filter(([count]) => count > 0)
    .map(([count, state]) => `${count} ${state}`)
    .join(', ');
}

/** Hints on how to list the runs, and on omitted groups. */
function noteRest(output: Output, { exact, groups, items }: FailureGroups): void {
  output.note('To list the runs of a group: stepwright list --failure <key>');
  if (groups > items.length) {
    output.note(`These are the first ${items.length} of ${groups} groups; --limit shows more.`);
  }
  if (!exact) output.note('Only the newest failures were counted.');
}
