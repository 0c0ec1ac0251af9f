/** Commands for the definitions and custom step scripts on a server. */
import type { Command } from 'commander';
import type { ShowOptions } from '../commands/definitions.js';
import type { VersionOptions } from '../commands/scripts.js';
import { withOutput, type ServerCommandOptions } from '../connection/options.js';
import type { PageOptions } from '../commands/bulk.js';
import { withPage } from './runs.js';
import { readVersion } from './values.js';

const ID = 'the id of a definition';
const NAME = 'the name of a script';

export function addDefinitionCommands(program: Command): void {
  const definitions = program.command('definitions').description('the definitions on a server');
  withOutput(
    withPage(
      definitions.command('list').description('list definitions, each in its latest version'),
      50,
    ),
  ).action(async (options: PageOptions) => {
    const { listDefinitions } = await import('../commands/definitions.js');
    await listDefinitions(options);
  });
  withOutput(
    definitions
      .command('show')
      .description('show a definition, with its original text')
      .argument('<definition>', ID)
      .option('--version <number>', 'the version; default: the latest', readVersion)
      .option('--source', 'print only the text', false),
  ).action(async (id: string, options: ShowOptions) => {
    const { showDefinition } = await import('../commands/definitions.js');
    await showDefinition(id, options);
  });
  withOutput(
    withPage(
      definitions
        .command('versions')
        .description('list the versions of a definition, newest first')
        .argument('<definition>', ID),
      50,
    ),
  ).action(async (id: string, options: PageOptions) => {
    const { listVersions } = await import('../commands/definitions.js');
    await listVersions(id, options);
  });
  addSwitch(definitions, 'disable', 'disable definitions: no new runs start, open runs continue');
  addSwitch(definitions, 'enable', 'allow new runs of definitions again');
  addScripts(program);
}

function addSwitch(definitions: Command, action: 'disable' | 'enable', description: string): void {
  withOutput(
    definitions
      .command(action)
      .description(description)
      .argument('<definitions...>', 'the ids of definitions'),
  ).action(async (ids: string[], options: ServerCommandOptions) => {
    const { switchDefinitions } = await import('../commands/definitions.js');
    await switchDefinitions(action, ids, options);
  });
}

function addScripts(program: Command): void {
  const scripts = program.command('scripts').description('the scripts of custom steps on a server');
  withOutput(withPage(scripts.command('list').description('list scripts'), 50)).action(
    async (options: PageOptions) => {
      const { listScripts } = await import('../commands/scripts.js');
      await listScripts(options);
    },
  );
  withOutput(
    scripts
      .command('show')
      .description('print a script')
      .argument('<script>', NAME)
      .option('--version <number>', 'the version; default: the latest', readVersion),
  ).action(async (name: string, options: VersionOptions) => {
    const { showScript } = await import('../commands/scripts.js');
    await showScript(name, options);
  });
  withOutput(
    withPage(
      scripts
        .command('versions')
        .description('list the versions of a script, newest first')
        .argument('<script>', NAME),
      50,
    ),
  ).action(async (name: string, options: PageOptions) => {
    const { listScriptVersions } = await import('../commands/scripts.js');
    await listScriptVersions(name, options);
  });
}
