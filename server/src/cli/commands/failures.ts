/** `stepwright failures`: groups failed runs by cause. */
import type { FailureGroup, FailureGroups, FailureQuery } from '../../api/wire/models/failure.js';
import { connect } from '../connection/connect.js';
import type { ServerCommandOptions } from '../connection/options.js';
import { Output } from '../output/output.js';
import { relativeTime } from '../output/times.js';

export interface FailuresOptions extends ServerCommandOptions {
  readonly definition?: string;
  readonly status?: NonNullable<FailureQuery['status']>;
  readonly failedFrom?: string;
  readonly failedTo?: string;
  readonly where?: string[];
  readonly order: NonNullable<FailureQuery['order']>;
  readonly limit: number;
}

export async function failures(options: FailuresOptions): Promise<void> {
  const client = await connect(options);
  const { definition: definitionId, failedFrom, failedTo, limit, order, status, where } = options;
  const groups = await client.get<FailureGroups>('/api/workflow/failures', {
    definitionId,
    status,
    failedFrom,
    failedTo,
    where,
    order,
    limit,
  });
  const output = new Output();
  if (options.json) output.json(groups);
  else printGroups(output, groups);
}

function printGroups(output: Output, groups: FailureGroups): void {
  const { now } = output;
  if (groups.items.length === 0) {
    output.note('No run has failed.');
    return;
  }
  output.table(groups.items, [
    { title: 'KEY', text: ({ key }) => key },
    { title: 'RUNS', text: ({ count }) => String(count), alignRight: true },
    { title: 'FIRST', text: ({ firstTime }) => relativeTime(firstTime, now) },
    { title: 'LAST', isOptional: true, text: ({ lastTime }) => relativeTime(lastTime, now) },
    { title: 'NOW', isOptional: true, text: statesOf, canShrink: true },
    { title: 'STEP', text: placeOf, canShrink: true },
    { title: 'CAUSE', text: ({ message, type }) => `${type}: ${message}`, canShrink: true },
  ]);
  noteRest(output, groups);
}

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
