/** The options that select runs, for lists and bulk jobs. */
import { Option, type Command } from 'commander';
import type { WorkflowFilter } from '../../api/wire/models/workflow-filter.js';
import { collect, readPastTime, readVersion } from './values.js';

export interface FilterOptions {
  readonly status?: NonNullable<WorkflowFilter['status']>;
  readonly outcome?: NonNullable<WorkflowFilter['outcome']>;
  readonly definition?: string;
  readonly definitionVersion?: number;
  readonly reference?: string;
  readonly parent?: string;
  readonly queued?: boolean;
  readonly where?: string[];
  readonly failure?: string;
  readonly startedFrom?: string;
  readonly startedTo?: string;
  readonly endedFrom?: string;
  readonly endedTo?: string;
  readonly failedFrom?: string;
  readonly unchangedSince?: string;
}

const STATUSES = ['Runnable', 'Suspended', 'Complete', 'Terminated'];
const OUTCOMES = ['Succeeded', 'Compensated', 'Failed', 'Terminated'];
const TIME = '<time>';

export function withFilter(command: Command): Command {
  return command
    .optionsGroup('Which runs:')
    .addOption(new Option('--status <status>', 'with this status').choices(STATUSES))
    .addOption(new Option('--outcome <outcome>', 'with this outcome').choices(OUTCOMES))
    .option('--definition <id>', 'of this definition')
    .option('--definition-version <number>', 'of this version of the definition', readVersion)
    .option('--reference <reference>', 'started with this reference')
    .option('--parent <run>', 'children of this run; `none`: runs without a parent')
    .option('--queued', 'waiting for other runs to end')
    .option(
      '--where <condition>',
      'customer=C-17, tag.team!=billing, amount>=10; repeatable',
      collect,
    )
    .option('--failure <key>', 'of this group of failures')
    .option(
      `--started-from ${TIME}`,
      'started at or after this time, such as 2h (ago)',
      readPastTime,
    )
    .option(`--started-to ${TIME}`, 'started before this time', readPastTime)
    .option(`--ended-from ${TIME}`, 'ended at or after this time', readPastTime)
    .option(`--ended-to ${TIME}`, 'ended before this time', readPastTime)
    .option(`--failed-from ${TIME}`, 'with an error at or after this time', readPastTime)
    .option(`--unchanged-since ${TIME}`, 'open and unchanged since this time', readPastTime)
    .optionsGroup('Options:');
}

type Used = { -readonly [Name in keyof WorkflowFilter]: WorkflowFilter[Name] };

export function filterOf(options: FilterOptions): Used {
  const { definition: definitionId, definitionVersion: version } = options;
  const { endedFrom, endedTo, failedFrom, failure, outcome, parent } = options;
  const { queued, reference, startedFrom, startedTo, status, unchangedSince, where } = options;
  const all = { definitionId, endedFrom, endedTo, failedFrom, failure, outcome, parent };
  const more = {
    queued,
    reference,
    startedFrom,
    startedTo,
    status,
    unchangedSince,
    version,
    where,
  };
  const given = Object.entries({ ...all, ...more }).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given);
}
