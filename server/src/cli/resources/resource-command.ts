/**
 * Resources: things that have a name or id on the server. The description of a resource gives its commands `list`, `show`,
 * `put` and `remove`, with their tables, JSON, exit codes and shell completion. To add a resource, describe it in a file of
 * this folder and add it to `program.ts`.
 */
import type { Command } from 'commander';
import { readObject } from '../arguments/data.js';
import { collect } from '../arguments/values.js';
import { withPage } from '../connection/options.js';
import { jsonContent, pathTo, type ServerClient } from '../connection/server-client.js';
import type { Output, Pairs } from '../output/output.js';
import { plain } from '../output/plain-text.js';
import type { Column } from '../output/table.js';
import {
  addCommands,
  listCommand,
  serverCommand,
  type AddCommand,
  type Call,
} from './server-command.js';

const VERSIONS_PAGE_SIZE = 50;

export interface ItemDescription<Item extends object, Row = Item> {
  /** The help of the group of commands. */
  readonly description: string;
  /** The name of one item, as in `Removed the webhook …`. */
  readonly noun: string;
  /** The path of all items in the API, such as `/api/webhook`. */
  readonly path: string;
  /** The argument that selects an item, and its help. With `--json`, a removal prints it as a member of this name. */
  readonly key: readonly [name: string, description: string];
  /** The default of `--limit`, if the API returns the list in pages. */
  readonly pageSize?: number;
  /** The table of `list`. */
  readonly columns: readonly Column<Row>[];
  /** How one item is printed; default: as JSON. */
  readonly pairs?: (item: Item, now: number) => Pairs;
  /** Printed after the pairs. */
  readonly printRest?: (output: Output, item: Item) => void;
}

interface Resource<Item extends object, Row> extends ItemDescription<Item, Row> {
  /**
   * The commands by name, in the order of `--help`: the description of a standard command, or a custom command. Standard are
   * `list`, `versions`, `show`, `put` and `remove`. Every other name, such as `pause`, is an action: `PUT <path>/<key>/<name>`.
   */
  readonly commands: Readonly<Record<string, string | AddCommand>>;
}

export function resource<Item extends object, Row = Item>(
  described: Resource<Item, Row>,
): AddCommand {
  return (parent, name) => {
    const group = parent.command(name).description(described.description);
    const commands = Object.entries(described.commands).map(([verb, command]) => [
      verb,
      typeof command === 'string' ? standardCommand(described, verb, command) : command,
    ]);
    addCommands(group, Object.fromEntries(commands) as Record<string, AddCommand>);
  };
}

function standardCommand<Item extends object, Row>(
  described: ItemDescription<Item, Row>,
  verb: string,
  description: string,
): AddCommand {
  switch (verb) {
    case 'list':
      return listOf(described, description);
    case 'versions':
      return versionsOf(described, description);
    case 'show':
      return itemCommand(described, description, (client, path) => client.get<Item>(path));
    case 'put':
      return putCommand(described, description);
    case 'remove':
      return removeCommand(described, description);
    default:
      return itemCommand(described, description, (client, path) =>
        client.send<Item>('PUT', `${path}/${verb}`),
      );
  }
}

function listOf<Item extends object, Row>(
  { columns, noun, pageSize, path }: ItemDescription<Item, Row>,
  description: string,
): AddCommand {
  return listCommand<Row>({
    description,
    ...(pageSize !== undefined && { declare: (command) => withPage(command, pageSize) }),
    path: () => path,
    columns,
    nouns: `${noun}s`,
  });
}

function versionsOf<Item extends object, Row>(
  described: ItemDescription<Item, Row>,
  description: string,
): AddCommand {
  const { columns, pageSize = VERSIONS_PAGE_SIZE } = described;
  return listCommand<Row, object, [key: string]>({
    description,
    declare: (command) => withPage(withKey(described)(command), pageSize),
    path: (key) => `${itemPath(described, key)}/versions`,
    columns,
    nouns: 'versions',
  });
}

/** A command whose call returns the item. */
export function itemCommand<Item extends object, Row>(
  described: ItemDescription<Item, Row>,
  description: string,
  send: (client: ServerClient, path: string) => Promise<Item>,
): AddCommand {
  return serverCommand({
    description,
    declare: withKey(described),
    run: async ({ connect, output }: Call, key: string) => {
      const client = await connect();
      printItem(output, described, await send(client, itemPath(described, key)));
    },
  });
}

function putCommand<Item extends object, Row>(
  described: ItemDescription<Item, Row>,
  description: string,
): AddCommand {
  return serverCommand({
    description,
    declare: (command) =>
      withKey(described)(command).requiredOption(
        '--body <json>',
        'the request body: JSON, @file, @- or name=value; repeatable',
        collect,
      ),
    run: async (
      { connect, options, output }: Call<{ readonly body: readonly string[] }>,
      key: string,
    ) => {
      const body = jsonContent(await readObject(options.body, '--body'));
      const client = await connect();
      const path = itemPath(described, key);
      printItem(output, described, await client.send<Item>('PUT', path, { body }));
    },
  });
}

/** The API returns nothing for a removal. */
function removeCommand<Item extends object, Row>(
  described: ItemDescription<Item, Row>,
  description: string,
): AddCommand {
  const {
    key: [name],
    noun,
  } = described;
  return serverCommand({
    description,
    declare: withKey(described),
    run: async ({ connect, output }: Call, key: string) => {
      const client = await connect();
      await client.send<null>('DELETE', itemPath(described, key));
      const removed = { [name]: key, removed: true };
      output.result(removed, () => output.note(`Removed the ${noun} ${plain(key)}.`));
    },
  });
}

export function printItem<Item extends object, Row>(
  output: Output,
  { pairs, printRest }: Pick<ItemDescription<Item, Row>, 'pairs' | 'printRest'>,
  item: Item,
): void {
  output.result(item, () => {
    if (pairs === undefined) output.json(item);
    else output.pairs(pairs(item, output.now));
    printRest?.(output, item);
  });
}

/** Adds the argument that selects an item. */
export function withKey({
  key: [name, help],
}: Pick<ItemDescription<never>, 'key'>): (command: Command) => Command {
  return (command) => command.argument(`<${name}>`, help);
}

function itemPath({ path }: Pick<ItemDescription<never>, 'path'>, key: string): string {
  return `${path}${pathTo`/${key}`}`;
}
