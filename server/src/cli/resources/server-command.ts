/**
 * Commands that call the server. Each describes its arguments and its call; the connection options, `--json`, the output and
 * the exit code are the same for all of them.
 */
import type { Command } from 'commander';
import { connect } from '../connection/connect.js';
import {
  withServerOptions,
  type PageOptions,
  type ServerCommandOptions,
} from '../connection/options.js';
import { readPages, type Page } from '../connection/pages.js';
import type { Query, ServerClient } from '../connection/server-client.js';
import type { ExitCode } from '../exit-codes.js';
import { Output } from '../output/output.js';
import type { Column } from '../output/table.js';

/** Adds a command to the tree of commands, under the given name. */
export type AddCommand = (parent: Command, name: string) => void;

/** Commands by name, in the order of `--help`. */
export type Commands = Readonly<Record<string, AddCommand>>;

export function addCommands(parent: Command, commands: Commands): void {
  for (const [name, add] of Object.entries(commands)) add(parent, name);
}

/** One use of a command. */
export interface Call<Options = object> {
  readonly options: Options & ServerCommandOptions;
  readonly output: Output;
  /** @throws CommandFailure if the options select no valid server */
  readonly connect: () => Promise<ServerClient>;
}

interface ServerCommand<Options, Args extends readonly unknown[]> {
  readonly description: string;
  /** Adds arguments and options. */
  readonly declare?: (command: Command) => Command;
  /** Calls the server and prints the result. The exit code is 0 unless it returns another one. @throws CommandFailure */
  readonly run: (call: Call<Options>, ...args: Args) => Promise<ExitCode> | Promise<void>;
}

export function serverCommand<Options, Args extends readonly unknown[]>({
  declare = (command) => command,
  description,
  run,
}: ServerCommand<Options, Args>): AddCommand {
  return (parent, name) => {
    const command = declare(parent.command(name).description(description));
    withServerOptions(command).action(async (...given: unknown[]) => {
      // Commander passes the arguments, the options and the command. Their types follow from `declare`.
      const args = given.slice(0, -2) as unknown as Args;
      const options = given.at(-2) as Options & ServerCommandOptions;
      const output = new Output(options);
      const exitCode = await run({ options, output, connect: () => connect(options) }, ...args);
      if (exitCode !== undefined) process.exitCode = exitCode;
    });
  };
}

/** A list and its table. */
export interface List<Row> {
  readonly path: string;
  readonly query?: Query;
  readonly columns: readonly Column<Row>[];
  /** The name of the items, such as `bulk jobs`. */
  readonly nouns: string;
}

/** Reads and prints a list; one with `--limit` is read in pages. */
export async function printList<Row>(
  { options, output }: Pick<Call<Partial<PageOptions>>, 'options' | 'output'>,
  client: ServerClient,
  { columns, nouns, path, query }: List<Row>,
): Promise<void> {
  const { cursor, limit } = options;
  const page =
    limit === undefined
      ? await client.get<Page<Row>>(path, query)
      : await readPages<Row>(client, path, { ...query, cursor, limit });
  output.result(page, () => output.page(page, columns, nouns));
}

interface ListCommand<Row, Options, Args extends readonly unknown[]>
  extends Omit<ServerCommand<Options, Args>, 'run'>, Omit<List<Row>, 'path' | 'query'> {
  readonly path: (...args: Args) => string;
  readonly query?: (options: Options) => Query;
}

export function listCommand<Row, Options = object, Args extends readonly unknown[] = []>({
  columns,
  declare,
  description,
  nouns,
  path,
  query = () => ({}),
}: ListCommand<Row, Options, Args>): AddCommand {
  return serverCommand({
    description,
    ...(declare !== undefined && { declare }),
    run: async (call: Call<Options>, ...args: Args) => {
      const client = await call.connect();
      const list = { path: path(...args), query: query(call.options), columns, nouns };
      await printList(call, client, list);
    },
  });
}
