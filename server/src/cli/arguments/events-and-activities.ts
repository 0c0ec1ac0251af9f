/** Commands for events, activities and types: how runs interact with the outside. */
import type { Command } from 'commander';
import type { ActivitiesOptions } from '../commands/activities.js';
import type { EventsOptions, PublishOptions } from '../commands/events.js';
import type { TypesOptions } from '../commands/export.js';
import { withOutput } from '../connection/options.js';
import { withPage } from './runs.js';
import { readVersion } from './values.js';

export function addEventAndActivityCommands(program: Command): void {
  const events = program
    .command('events')
    .description('list published events, newest first, or show one')
    .argument('[event]', 'the id of an event')
    .option('--name <name>', 'only with this name')
    .option('--key <key>', 'only with this key')
    .option('--waiting', 'list the runs waiting for --name and --key', false);
  withOutput(withPage(events, 20)).action(
    async (event: string | undefined, options: EventsOptions) => {
      const commands = await import('../commands/events.js');
      await commands.events(event, options);
    },
  );

  withOutput(
    program
      .command('publish')
      .description('publish an event')
      .argument('<name>', 'its name')
      .argument('<key>', 'its key')
      .option('-d, --data <data>', 'JSON, @file, @- or name=value')
      .option('--run <id>', 'only for this run')
      .option('--idempotency-key <key>', 'calls with the same key publish one event'),
  ).action(async (name: string, key: string, options: PublishOptions) => {
    const { publish } = await import('../commands/events.js');
    await publish(name, key, options);
  });

  const activities = program
    .command('activities')
    .description('list the activities with work or workers, or the work items of one')
    .argument('[activity]', 'the name of an activity');
  withOutput(withPage(activities, 50)).action(
    async (activity: string | undefined, options: ActivitiesOptions) => {
      const commands = await import('../commands/activities.js');
      await commands.activities(activity, options);
    },
  );

  withOutput(
    program
      .command('types')
      .description('print the types of a definition as a TypeScript module')
      .argument('<definition>', 'the id of a definition')
      .option('--version <number>', 'the version of the definition', readVersion)
      .option('-o, --output <file>', 'write to a file'),
  ).action(async (definition: string, options: TypesOptions) => {
    const { types } = await import('../commands/export.js');
    await types(definition, options);
  });
}
