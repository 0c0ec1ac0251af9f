/** Commands that start, show and follow runs. */
import { Option, type Command } from 'commander';
import type { StepExecutionStatusFilter } from '../../api/wire/models/step-execution.js';
import { type ServerCommandOptions, withOutput } from '../connection/options.js';
import type { FailuresOptions } from '../commands/failures.js';
import type { FindOptions } from '../commands/find.js';
import type { ListOptions } from '../commands/list.js';
import type { RunOptions } from '../commands/run.js';
import type { StepsOptions } from '../commands/steps.js';
import { withFilter } from './run-filter.js';
import {
  collect,
  readDuration,
  readIndex,
  readLimit,
  readPastTime,
  readVersion,
} from './values.js';

const RUN = 'the id of a run';
const ON_CONFLICT = ['allow', 'fail', 'existing', 'terminate'];
const FAILED = ['Suspended', 'Runnable', 'Terminated'];
const CONFLICT_SCOPES = ['open', 'kept'];
const STEP_STATUSES: readonly StepExecutionStatusFilter[] = [
  'Pending',
  'Running',
  'Waiting',
  'Retrying',
  'Complete',
  'Failed',
  'Cancelled',
  'Compensated',
];

export function addRunCommands(program: Command): void {
  addRun(program);

  withOutput(
    withFilter(withPage(program.command('list').description('list runs, newest first'), 20)),
  ).action(async (options: ListOptions) => {
    const { list } = await import('../commands/list.js');
    await list(options);
  });

  withOutput(
    withPage(
      program
        .command('find')
        .description('find runs by a text in their id, reference, tags or index fields')
        .argument('<text>', 'a value, its beginning, or a part of it; case-sensitive'),
      20,
    ),
  ).action(async (text: string, options: FindOptions) => {
    const { find } = await import('../commands/find.js');
    await find(text, options);
  });

  addFailures(program);

  withOutput(
    program.command('show').description('show a run with its data').argument('<run>', RUN),
  ).action(async (run: string, options: ServerCommandOptions) => {
    const { show } = await import('../commands/show.js');
    await show(run, options);
  });

  addSteps(program);

  withOutput(
    program
      .command('explain')
      .description('explain why a run is waiting, and how to repair it')
      .argument('<run>', RUN),
  ).action(async (run: string, options: ServerCommandOptions) => {
    const { explain } = await import('../commands/explain.js');
    await explain(run, options);
  });

  withOutput(
    program
      .command('export')
      .description('print everything about a run as JSON')
      .argument('<run>', RUN)
      .option('-o, --output <file>', 'write to a file'),
  ).action(async (run: string, options: ServerCommandOptions & { output?: string }) => {
    const { exportRun } = await import('../commands/export.js');
    await exportRun(run, options);
  });
}

/** The options of every list. */
export function withPage(command: Command, size: number): Command {
  return command
    .option('--limit <number>', 'the maximum number', readLimit, size)
    .option('--cursor <cursor>', '`nextCursor` of an earlier list with --json');
}

function addRun(program: Command): void {
  const command = program
    .command('run')
    .description('start a run')
    .argument('<definition>', 'the id of a definition')
    .option('-d, --data <data>', 'JSON, @file, @- or name=value; repeatable', collect)
    .option('--reference <reference>', 'a name for finding the run')
    .option('--tag <name=value>', 'repeatable', collect)
    .option('--version <number>', 'the version of the definition', readVersion)
    .option('--delay <duration>', 'when the first step runs, such as 2h30m', readDuration)
    .addOption(
      new Option('--on-conflict <action>', 'if another run has the same reference').choices(
        ON_CONFLICT,
      ),
    )
    .addOption(
      new Option(
        '--conflict-scope <scope>',
        'which other runs count: open runs, or all kept runs',
      ).choices(CONFLICT_SCOPES),
    )
    .option('--idempotency-key <key>', 'repeated calls with the same key start only one run')
    .option('--wait', 'wait for the end, print the data, and exit with its status code', false)
    .option('--follow', 'like --wait, and print the steps as they run', false)
    .option('--timeout <duration>', 'the maximum time to wait', readDuration);
  withOutput(command).action(async (definition: string, options: RunOptions) => {
    const { run } = await import('../commands/run.js');
    process.exitCode = await run(definition, options);
  });
}

function addFailures(program: Command): void {
  const command = program
    .command('failures')
    .description('list the causes of failures, with the number of runs for each')
    .option('--definition <id>', 'only runs of this definition')
    .addOption(new Option('--status <status>', 'only runs with this status').choices(FAILED))
    .option('--where <condition>', 'only runs that match the condition; repeatable', collect)
    .option('--failed-from <time>', 'with an error at or after this time', readPastTime)
    .option('--failed-to <time>', 'with an error before this time', readPastTime)
    .addOption(
      new Option('--order <order>', 'order by the number of runs, or by the newest error')
        .choices(['count', 'lastTime'])
        .default('count'),
    )
    .option('--limit <number>', 'the maximum number of groups', readLimit, 20);
  withOutput(command).action(async (options: FailuresOptions) => {
    const { failures } = await import('../commands/failures.js');
    await failures(options);
  });
}

function addSteps(program: Command): void {
  const command = program
    .command('steps')
    .description('list the steps of a run, or follow them')
    .argument('<run>', RUN)
    .option('--follow', 'print the steps as they run, until the run ends', false)
    .option('--timeout <duration>', 'with --follow: the maximum time', readDuration)
    .option('--newest', 'open steps first, then the newest', false)
    .option('--step <id>', 'only this step')
    .addOption(new Option('--status <status>', 'only with this status').choices(STEP_STATUSES))
    .option('--item <index>', 'only for this item of a Foreach, from 0', readIndex)
    .option('--turn <number>', 'with --step: only this iteration of a loop, from 1', readVersion)
    .option('--search <text>', 'only with this text in inputs, outputs, item or error');
  withOutput(withPage(command, 50)).action(async (run: string, options: StepsOptions) => {
    const { steps } = await import('../commands/steps.js');
    process.exitCode = await steps(run, options);
  });
}
