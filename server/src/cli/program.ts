/** The command tree, which `--help` prints. */
import { Command, Help, type Option } from 'commander';
import { SERVER_VERSION } from '../base/version.js';
import { addAccessCommands } from './arguments/access.js';
import { addFileCommands } from './arguments/files.js';
import { addServerCommands } from './arguments/server.js';
import { addTestCommand } from './arguments/tests.js';
import { EXIT_CODES, EXIT_CODE_MEANINGS } from './exit-codes.js';
import { printable } from './output/plain-text.js';
import { activities } from './resources/activities.js';
import { audit } from './resources/audit.js';
import { bulk } from './resources/bulk.js';
import { priority, resume, retry, suspend, terminate } from './resources/control.js';
import { definitions } from './resources/definitions.js';
import { events, publish } from './resources/events.js';
import { explain } from './resources/explain.js';
import { exportRun, types } from './resources/export.js';
import { failures } from './resources/failures.js';
import { find } from './resources/find.js';
import { keys } from './resources/keys.js';
import { limits } from './resources/limits.js';
import { notifications } from './resources/notifications.js';
import { modify, rerun, restart } from './resources/repair.js';
import { run } from './resources/run.js';
import { list, show } from './resources/runs.js';
import { scripts } from './resources/scripts.js';
import { secrets } from './resources/secrets.js';
import { addCommands } from './resources/server-command.js';
import { steps } from './resources/steps.js';
import { triggers } from './resources/triggers.js';
import { webhooks } from './resources/webhooks.js';

const ACCESS_AND_SHELL = 'Access, audit and shell:';
/** In the order of `--help`. */
const RUNS = { run, list, find, failures, show, steps, explain, export: exportRun };
const CHANGES = { suspend, resume, retry, terminate, priority, rerun, modify, restart, bulk };
const OUTSIDE = { events, publish, activities, types, notifications, webhooks };
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
    // Options after a command belong to the command: some have their own --version.
    .enablePositionalOptions();
  // Commands inherit this only if it is set before they are added.
  program.exitOverride();
  addServerCommands(program.commandsGroup('Servers:'));
  addFileCommands(program.commandsGroup('Definitions and scripts:'));
  addTestCommand(program);
  addCommands(program, { definitions, scripts, limits, triggers });
  addCommands(program.commandsGroup('Runs:'), RUNS);
  addCommands(program.commandsGroup('Change runs:'), CHANGES);
  addCommands(program.commandsGroup('Events, activities, types and messages:'), OUTSIDE);
  addCommands(program.commandsGroup(ACCESS_AND_SHELL), { keys, secrets, audit });
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

/** Printed after the help of all commands. */
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

/** Omits the default of options that are off by default. */
function optionDescription(option: Option): string {
  return new Help().optionDescription(option).replace(/ \(default: false\)$/, '');
}
