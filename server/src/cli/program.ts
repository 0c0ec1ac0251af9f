/** The tree of commands: what `--help` prints. Nothing runs here. */
import { Command } from 'commander';
import { SERVER_VERSION } from '../base/version.js';
import { addFileCommands } from './arguments/files.js';
import { addServerCommands } from './arguments/server.js';
import { EXIT_CODES } from './exit-codes.js';

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
  ${EXIT_CODES.done}  done
  ${EXIT_CODES.failed}  failed, or problems were found
  ${EXIT_CODES.misused}  the arguments or a setting are wrong

Settings are environment variables, such as PORT and DATA_DIR. Colors are used on a terminal, unless NO_COLOR is set.`,
    );
  // Commands inherit this only if it is set before they are added.
  program.exitOverride();
  addServerCommands(program);
  addFileCommands(program);
  return program;
}
