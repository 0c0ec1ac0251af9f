/** Commands that set up the command line: servers, tokens and shell completion. */
import { Argument, Option, type Command } from 'commander';
import type { Shell } from '../commands/completion.js';
import type { SetOptions } from '../commands/profile.js';
import type { TokenOptions } from '../commands/token.js';
import { readDuration } from './values.js';

const ALGORITHMS = ['ES256', 'ES384', 'ES512', 'RS256', 'RS384', 'RS512'];
const SHELLS: readonly Shell[] = ['bash', 'zsh', 'fish'];
const HOUR_MS = 3_600_000;

export function addAccessCommands(program: Command): void {
  addProfile(program);
  addToken(program);
  program
    .command('completion')
    .description('print the completion script for a shell')
    .addArgument(new Argument('<shell>', 'the shell').choices(SHELLS))
    .action(async (shell: Shell) => {
      const { printCompletion } = await import('../commands/completion.js');
      printCompletion(program, shell);
    });
}

function addProfile(program: Command): void {
  const profile = program.command('profile').description('manage stored servers and tokens');
  profile
    .command('list')
    .description('list the profiles')
    .option('--json', 'print JSON', false)
    .action(async (options: { json: boolean }) => {
      const { listProfiles } = await import('../commands/profile.js');
      await listProfiles(options);
    });
  profile
    .command('set')
    .description('create or change a profile')
    .argument('<name>', 'letters, digits, and the characters . _ -')
    .option('--url <url>', 'the server')
    .option('--token <token>', 'the bearer token; other users may be able to see command arguments')
    .option('--token-stdin', 'read the token from standard input', false)
    .option('--no-token', 'remove the token')
    .option('--use', 'use this profile from now on', false)
    .option('--json', 'print the profiles as JSON', false)
    .action(
      async (name: string, options: Omit<SetOptions, 'token'> & { token: string | boolean }) => {
        const { setProfile } = await import('../commands/profile.js');
        const { token, ...others } = options;
        // Commander defaults an option with a negation to true.
        await setProfile(name, token === true ? others : { ...others, token });
      },
    );
  profile
    .command('use')
    .description('use a profile from now on')
    .argument('<name>', 'the name of a profile')
    .option('--json', 'print the profiles as JSON', false)
    .action(async (name: string, options: { json: boolean }) => {
      const { useProfile } = await import('../commands/profile.js');
      await useProfile(name, options);
    });
  profile
    .command('remove')
    .description('remove a profile')
    .argument('<name>', 'the name of a profile')
    .option('--json', 'print the profiles as JSON', false)
    .action(async (name: string, options: { json: boolean }) => {
      const { removeProfile } = await import('../commands/profile.js');
      await removeProfile(name, options);
    });
}

function addToken(program: Command): void {
  program
    .command('token')
    .description('create a signed token, and the settings for a server that accepts it')
    .option('--scope <scopes>', 'the scopes of the token', 'conductor:admin')
    .option('--key <file>', 'the private key (PEM); a missing file is created')
    .addOption(
      new Option('--alg <algorithm>', 'the signature algorithm')
        .choices(ALGORITHMS)
        .default('ES256'),
    )
    .addOption(
      new Option('--expires <duration>', 'how long the token is valid, such as 90d')
        .argParser(readDuration)
        .default(HOUR_MS, '1h'),
    )
    .option('--subject <name>', 'identity shown in the audit log (default: your user name)')
    .option('--issuer <name>', 'the value of `auth_issuer` on the server')
    .option('--audience <name>', 'the value of `auth_audience` on the server')
    .option('--json', 'print JSON', false)
    .action(async (options: TokenOptions) => {
      const { token } = await import('../commands/token.js');
      await token(options);
    });
}
