/** Commands for triggers. */
import type { Command } from 'commander';
import type { BackfillOptions, ScheduleOptions, TriggerSwitch } from '../commands/triggers.js';
import { withOutput, type ServerCommandOptions } from '../connection/options.js';
import { readPastTime, wholeNumber } from './values.js';

const SWITCHES: Readonly<Record<TriggerSwitch, string>> = {
  pause: 'pause a trigger; missed due times and events start no runs',
  resume: 'resume a trigger',
};

export function addTriggerCommands(program: Command): void {
  const all = program
    .command('triggers')
    .description('manage the triggers that start runs by time or event');
  const of = (command: string, description: string): Command =>
    all
      .command(command)
      .description(description)
      .argument('<definition>', 'the id of a definition');
  const one = (command: string, description: string): Command =>
    of(command, description).argument('<trigger>', 'the name of a trigger');
  withOutput(of('list', 'list triggers with their next due time and last outcome')).action(
    async (id: string, options: ServerCommandOptions) => {
      const { listTriggers } = await import('../commands/triggers.js');
      await listTriggers(id, options);
    },
  );
  withOutput(
    all
      .command('schedule')
      .description('list the triggers of all definitions that fire in the next hours')
      .option('--hours <number>', 'the period in hours, at most 168', wholeNumber(1, 168), 24)
      .option('--limit <number>', 'the number of triggers, at most 500', wholeNumber(1, 500), 100),
  ).action(async (options: ScheduleOptions) => {
    const { showSchedule } = await import('../commands/triggers.js');
    await showSchedule(options);
  });
  for (const [action, description] of Object.entries(SWITCHES)) {
    withOutput(one(action, description)).action(
      async (id: string, name: string, options: ServerCommandOptions) => {
        const { switchTrigger } = await import('../commands/triggers.js');
        await switchTrigger(action as TriggerSwitch, id, name, options);
      },
    );
  }
  withOutput(one('fire', 'start a run now, even if paused, and print its id')).action(
    async (id: string, name: string, options: ServerCommandOptions) => {
      const { fireTrigger } = await import('../commands/triggers.js');
      await fireTrigger(id, name, options);
    },
  );
  withOutput(
    one('backfill', 'start runs for the due times in a period, and print these times')
      .requiredOption(
        '--from <time>',
        'the start of the period, inclusive: how long ago (2d), or a time',
        readPastTime,
      )
      .requiredOption('--to <time>', 'the end of the period, exclusive', readPastTime),
  ).action(async (id: string, name: string, options: BackfillOptions) => {
    const { backfillTrigger } = await import('../commands/triggers.js');
    await backfillTrigger(id, name, options);
  });
}
