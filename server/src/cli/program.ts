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
import { addOutsideCommands } from './arguments/outside.js';
import { addRunCommands } from './arguments/runs.js';
import { addServerCommands } from './arguments/server.js';
import { addTestCommand } from './arguments/tests.js';
import { addTriggerCommands } from './arguments/triggers.js';
import { EXIT_CODES, EXIT_CODE_MEANINGS } from './exit-codes.js';

export function createProgram(): Command {
  const program = new Command('stepwright')
    .description('A durable workflow server, and what you need to write definitions for it')
    .version(SERVER_VERSION, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .helpCommand('help [command]', 'print help for a command')
    .showHelpAfterError('(stepwright --help lists the commands)')
    .addHelpText(
      'after',
      `
Exit codes:
${exitCodes()}

Settings of the server are environment variables, such as PORT and DATA_DIR. Colors are used on a terminal, unless
NO_COLOR is set.`,
    )
    .configureHelp({ optionDescription })
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
  addOutsideCommands(program.commandsGroup('Events, activities, types and notifications:'));
  addNotificationCommands(program);
  addWebhookCommands(program);
  addKeyCommands(program);
  addSecretCommands(program);
  addAuditCommand(program);
  addAccessCommands(program.commandsGroup('Access and shell:'));
  return program;
}

function exitCodes(): string {
  return Object.entries(EXIT_CODES)
    .map(
      ([name, code]) =>
        `  ${String(code).padStart(2)}  ${EXIT_CODE_MEANINGS[name as keyof typeof EXIT_CODES]}`,
    )
    .join('\n');
}

/** That something is off unless it is asked for needs no words. */
function optionDescription(option: Option): string {
  return new Help().optionDescription(option).replace(/ \(default: false\)$/, '');
}
