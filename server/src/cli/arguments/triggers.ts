/** The commands about triggers. */
import type { Command } from 'commander';
import type { BackfillOptions, ScheduleOptions, TriggerSwitch } from '../commands/triggers.js';
import { withOutput, type ServerCommandOptions } from '../connection/options.js';
import { readPastTime, wholeNumber } from './values.js';

const SWITCHES: Readonly<Record<TriggerSwitch, string>> = {
  pause: 'pause a trigger: what passes meanwhile starts no runs',
  resume: 'resume a trigger, from now on',
};

export function addTriggerCommands(program: Command): void {
  const all = program
    .command('triggers')
    .description('what starts runs of a definition by time or event');
  const of = (command: string, description: string): Command =>
    all
      .command(command)
      .description(description)
      .argument('<definition>', 'the id of a definition');
  const one = (command: string, description: string): Command =>
    of(command, description).argument('<trigger>', 'the name of a trigger');
  withOutput(of('list', 'list triggers, with their next time and last outcome')).action(
    async (id: string, options: ServerCommandOptions) => {
      const { listTriggers } = await import('../commands/triggers.js');
      await listTriggers(id, options);
    },
  );
  withOutput(
    all
      .command('schedule')
      .description('list what fires in the next hours, of all definitions')
      .option('--hours <number>', 'the length of the period, at most 168', wholeNumber(1, 168), 24)
      .option(
        '--limit <number>',
        'the maximum number of triggers, at most 500',
        wholeNumber(1, 500),
        100,
      ),
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
  withOutput(one('fire', 'start a run now, also of a paused trigger, and print its id')).action(
    async (id: string, name: string, options: ServerCommandOptions) => {
      const { fireTrigger } = await import('../commands/triggers.js');
      await fireTrigger(id, name, options);
    },
  );
  withOutput(
    one('backfill', 'start the runs of a period, and print their times')
      .requiredOption(
        '--from <time>',
        'the first time that counts: how long ago (2d), or a time',
        readPastTime,
      )
      .requiredOption('--to <time>', 'the first time that does not count', readPastTime),
  ).action(async (id: string, name: string, options: BackfillOptions) => {
    const { backfillTrigger } = await import('../commands/triggers.js');
    await backfillTrigger(id, name, options);
  });
}
