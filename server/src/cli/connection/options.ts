/** The options of every command that calls the server. */
import type { Command } from 'commander';
import { readLimit } from '../arguments/values.js';

export interface ConnectionOptions {
  readonly url?: string;
  readonly token?: string;
  readonly profile?: string;
}

export interface ServerCommandOptions extends ConnectionOptions {
  readonly json: boolean;
}

export interface PageOptions {
  readonly limit: number;
  readonly cursor?: string;
}

/** Added after the command's own options, so that the help shows those first. */
export function withServerOptions(command: Command): Command {
  return command
    .option('--json', 'print the API response as JSON', false)
    .optionsGroup('Connection:')
    .option('--url <url>', 'the server (STEPWRIGHT_URL; default: http://127.0.0.1:5001)')
    .option('--token <token>', 'a bearer token (STEPWRIGHT_TOKEN)')
    .option('--profile <name>', 'a stored server and token (STEPWRIGHT_PROFILE)');
}

/** @param size the default maximum number of items */
export function withPage(command: Command, size: number): Command {
  return command
    .option('--limit <number>', 'the maximum number', readLimit, size)
    .option('--cursor <cursor>', '`nextCursor` of an earlier list with --json');
}
