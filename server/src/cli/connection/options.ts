/** The options of every command that talks to a server. */
import type { Command } from 'commander';

export interface ConnectionOptions {
  readonly url?: string;
  readonly token?: string;
  readonly profile?: string;
}

/** What every command that talks to a server accepts. */
export interface ServerCommandOptions extends ConnectionOptions {
  readonly json: boolean;
}

/** Added after the command's own options, so that the help shows those first. */
export function withConnection(command: Command): Command {
  return command
    .optionsGroup('Connection:')
    .option('--url <url>', 'the server (STEPWRIGHT_URL; default: http://127.0.0.1:5001)')
    .option('--token <token>', 'a bearer token (STEPWRIGHT_TOKEN)')
    .option('--profile <name>', 'a stored server and token (STEPWRIGHT_PROFILE)');
}

export function withOutput(command: Command): Command {
  return withConnection(command.option('--json', 'print the API response as JSON', false));
}
