/** The commands that change runs. */
import { Argument, type Command } from 'commander';
import type { BulkAction } from '../../api/wire/models/bulk.js';
import type { BulkOptions, PageOptions } from '../commands/bulk.js';
import type { ControlOptions } from '../commands/control.js';
import type { ModifyOptions, RerunOptions } from '../commands/repair.js';
import { withOutput, type ServerCommandOptions } from '../connection/options.js';
import { withFilter } from './run-filter.js';
import { withPage } from './runs.js';
import { collect, readDuration, readRate, readVersion } from './values.js';

const CONTROLS = {
  suspend: 'suspend runs until they are resumed',
  resume: 'resume suspended runs',
  retry: 'immediately retry steps that are waiting for their next attempt',
  terminate: 'end runs',
} as const;
const BULK_ACTIONS: readonly BulkAction[] = [
  'suspend',
  'resume',
  'retry',
  'terminate',
  'modify',
  'restart',
  'purge',
];
const BODY = 'the request body as JSON or @file; other options override its members';

export function addActionCommands(program: Command): void {
  for (const [action, description] of Object.entries(CONTROLS)) {
    const command = program
      .command(action)
      .description(description)
      .argument('<runs...>', 'the ids of runs');
    if (action === 'terminate') {
      command
        .option('--compensate', 'undo the completed steps first', false)
        .option(
          '--grace <duration>',
          'with --compensate: how long to wait for work in flight',
          readDuration,
        )
        .option('--dry-run', 'with --compensate: only show what would be undone')
        .option('--reason <text>', 'the reason, for the record of actions');
    }
    withOutput(command).action(async (runs: string[], options: ControlOptions) => {
      const { control } = await import('../commands/control.js');
      process.exitCode = await control(action as keyof typeof CONTROLS, runs, options);
    });
  }
  addRepairs(program);
  addBulk(program);
}

function addRepairs(program: Command): void {
  const repair = (name: string, description: string): Command =>
    program
      .command(name)
      .description(description)
      .argument('<run>', 'the id of a run')
      .requiredOption('--reason <text>', 'the reason, for the record of actions')
      .option('--version <number>', 'the version of the definition', readVersion);
  const common = (command: Command): Command =>
    withOutput(
      command
        .option('--body <json>', BODY)
        .option(
          '--idempotency-key <key>',
          'repeated calls with the same key have no further effect',
        ),
    );

  common(
    repair('rerun', 'cancel everything in a run, restart it at a step, and resume it')
      .option('--from <step>', 'the step to start at; default: the first')
      .option('-d, --data <data>', 'changes to the data: JSON, @file or name=value', collect)
      .option('--dry-run', 'only preview the changes'),
  ).action(async (run: string, options: RerunOptions) => {
    const { rerun } = await import('../commands/repair.js');
    await rerun(run, options);
  });

  common(
    repair('modify', 'cancel and start steps of a run, and change its data or version')
      .option('-d, --data <data>', 'changes to the data: JSON, @file or name=value', collect)
      .option('--cancel <execution>', 'the number of an open execution, or * for all', collect)
      .option('--start <step>', 'a step to start; repeatable', collect)
      .option('--step-map <old=new>', 'with --version: the new id of a step; repeatable', collect)
      .option('--resume', 'resume the run')
      .option('--dry-run', 'only preview the changes'),
  ).action(async (run: string, options: ModifyOptions) => {
    const { modify } = await import('../commands/repair.js');
    await modify(run, options);
  });

  common(repair('restart', 'start a new run with the same input, reference and tags')).action(
    async (run: string, options: RerunOptions) => {
      const { restart } = await import('../commands/repair.js');
      await restart(run, options);
    },
  );
}

function addBulk(program: Command): void {
  const bulk = program.command('bulk').description('apply one action to many runs');
  const create = bulk
    .command('create')
    .description('create a bulk job')
    .addArgument(new Argument('<action>', 'the action').choices(BULK_ACTIONS))
    .requiredOption('--reason <text>', 'the reason, for the record of actions')
    .option('--modification <json>', 'with modify: JSON or @file', collect)
    .option('--compensate', 'with terminate: compensate the completed steps', false)
    .option('--per-second <number>', 'the number of runs to act on per second', readRate)
    .option('--dry-run', 'only show the matching runs, and any obstacles to modify', false)
    .option('--idempotency-key <key>', 'calls with the same key create one job')
    .option('--run <id>', 'this run; repeatable', collect)
    .option('--all', 'all runs', false)
    .option('--wait', 'wait until the job has ended, and show it', false)
    .option('--timeout <duration>', 'with --wait: the maximum time to wait', readDuration);
  withOutput(withFilter(create)).action(async (action: BulkAction, options: BulkOptions) => {
    const { createBulkJob } = await import('../commands/bulk.js');
    process.exitCode = await createBulkJob(action, options);
  });

  const job = (name: string, description: string): Command =>
    bulk.command(name).description(description).argument('<job>', 'the id of a bulk job');
  withOutput(withPage(bulk.command('list').description('list bulk jobs, newest first'), 20)).action(
    async (options: PageOptions) => {
      const { listBulkJobs } = await import('../commands/bulk.js');
      await listBulkJobs(options);
    },
  );
  withOutput(job('show', 'show the progress of a bulk job')).action(
    async (id: string, options: ServerCommandOptions) => {
      const { showBulkJob } = await import('../commands/bulk.js');
      await showBulkJob(id, options);
    },
  );
  withOutput(withPage(job('runs', 'list the runs that a bulk job acts on'), 20)).action(
    async (id: string, options: PageOptions) => {
      const { listRunsOfBulkJob } = await import('../commands/bulk.js');
      await listRunsOfBulkJob(id, options);
    },
  );
  withOutput(job('stop', 'stop a bulk job; completed actions are not undone')).action(
    async (id: string, options: ServerCommandOptions) => {
      const { stopBulkJob } = await import('../commands/bulk.js');
      await stopBulkJob(id, options);
    },
  );
}
