/**
 * The command `stepwright`: what its arguments mean. Each command loads its own code, so that `--help` is quick and the
 * server holds nothing of the others.
 */
import { Command, CommanderError } from 'commander';
import { SERVER_VERSION } from '../base/version.js';
import { EXIT_CODES } from './exit-codes.js';

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
  )
  .exitOverride();

program
  .command('start')
  .description('start the server')
  .action(async () => {
    await import('../main.js');
  });

program
  .command('dev')
  .description(
    'start the server, and register the definitions and scripts of a folder whenever they change',
  )
  .argument('[folder]', 'definitions (.yaml, .yml, .json) and scripts of custom steps (.py)', '.')
  .action(async (folder: string) => {
    const { dev } = await import('./dev.js');
    await dev(folder);
  });

program
  .command('validate')
  .description('check definitions and scripts without a server')
  .argument('<paths...>', 'files, or folders with .yaml, .yml, .json and .py files')
  .option('--strict', 'treat warnings as errors', false)
  .option('--json', 'print the problems as JSON', false)
  .option('--github', 'print the problems as annotations of GitHub Actions', false)
  .action(async (paths: string[], options: ValidateArguments) => {
    const { validate } = await import('./validate.js');
    const format = options.json ? 'json' : options.github ? 'github' : 'text';
    process.exitCode = await validate(paths, { format, strict: options.strict });
  });

program
  .command('migrate-store')
  .description('copy a store into another one; --help lists its arguments')
  .helpOption(false)
  .allowUnknownOption()
  .allowExcessArguments()
  .action(async () => {
    // The command reads its own arguments.
    process.argv.splice(2, 1);
    await import('../migrate-store.js');
  });

interface ValidateArguments {
  readonly strict: boolean;
  readonly json: boolean;
  readonly github: boolean;
}

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    // Commander has printed the reason.
    process.exitCode = error.exitCode === 0 ? EXIT_CODES.done : EXIT_CODES.misused;
  } else {
    process.stderr.write(`stepwright: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = EXIT_CODES.failed;
  }
}
