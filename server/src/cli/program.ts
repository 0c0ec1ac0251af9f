/** The tree of commands: what `--help` prints. Nothing runs here. */
import { Command, Help, type Option } from 'commander';
import { SERVER_VERSION } from '../base/version.js';
import { addAccessCommands } from './arguments/access.js';
import { addActionCommands } from './arguments/actions.js';
import { addAuditCommand } from './arguments/audit.js';
import { addDefinitionCommands } from './arguments/definitions.js';
import { addFileCommands } from './arguments/files.js';
import { addKeyCommands } from './arguments/keys.js';
import { addSecretCommands } from './arguments/secrets.js';
import { addWebhookCommands } from './arguments/webhooks.js';
import { addNotificationCommands } from './arguments/notifications.js';
import { addEventAndActivityCommands } from './arguments/events-and-activities.js';
import { addRunCommands } from './arguments/runs.js';
import { addServerCommands } from './arguments/server.js';
import { addTestCommand } from './arguments/tests.js';
import { addTriggerCommands } from './arguments/triggers.js';
import { EXIT_CODES, EXIT_CODE_MEANINGS } from './exit-codes.js';
import { printable } from './output/plain-text.js';

const ACCESS_AND_SHELL = 'Access, audit and shell:';
/** Fits every terminal. */
const HELP_WIDTH = 80;

export function createProgram(): Command {
  const program = new Command('stepwright')
    .description('A durable workflow server, and what you need to write definitions for it')
    .version(SERVER_VERSION, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .addHelpCommand(
      new Command('help [command]')
        .description('print help for a command')
        .helpGroup(ACCESS_AND_SHELL),
    )
    .showHelpAfterError('(stepwright --help lists the commands)')
    .addHelpText('after', footer)
    .configureOutput({ writeErr: (text) => process.stderr.write(printable(text)) })
    .configureHelp({ optionDescription, minWidthToWrap: 20 })
    // Options behind a command belong to it: --version is one of some commands, too.
    .enablePositionalOptions();
  // Commands inherit this only if it is set before they are added.
  program.exitOverride();
  addServerCommands(program.commandsGroup('Servers:'));
  addFileCommands(program.commandsGroup('Definitions and scripts:'));
  addTestCommand(program);
  addDefinitionCommands(program);
  addTriggerCommands(program);
  addRunCommands(program.commandsGroup('Runs:'));
  addActionCommands(program.commandsGroup('Change runs:'));
  addEventAndActivityCommands(program.commandsGroup('Events, activities, types and messages:'));
  addNotificationCommands(program);
  addWebhookCommands(program);
  addKeyCommands(program.commandsGroup(ACCESS_AND_SHELL));
  addSecretCommands(program);
  addAuditCommand(program);
  addAccessCommands(program);
  return program;
}

const FIRST_COMMANDS = [
  ['stepwright dev flows', 'run a server, and register what is in flows'],
  ['stepwright run order --follow', 'start a run, and print its steps'],
  ['stepwright test flows', 'run the tests in flows, without a server'],
] as const;
const SETTINGS =
  'Settings of the server are environment variables, such as PORT and DATA_DIR. Colors are used on a terminal, unless NO_COLOR is set.';

/** What belongs to all commands. */
function footer(): string {
  const help = new Help();
  help.prepareContext({ helpWidth: HELP_WIDTH });
  const first = FIRST_COMMANDS.map(([command, text]) => help.formatItem(command, 30, text, help));
  const codes = Object.entries(EXIT_CODES).map(([name, code]) => {
    const meaning = EXIT_CODE_MEANINGS[name as keyof typeof EXIT_CODES];
    return help.formatItem(String(code).padStart(2), 2, meaning, help);
  });
  return [
    '',
    'First commands:',
    ...first,
    '',
    'Exit codes:',
    ...codes,
    '',
    help.boxWrap(SETTINGS, HELP_WIDTH),
  ].join('\n');
}

/** That something is off unless it is asked for needs no words. */
function optionDescription(option: Option): string {
  return new Help().optionDescription(option).replace(/ \(default: false\)$/, '');
}
