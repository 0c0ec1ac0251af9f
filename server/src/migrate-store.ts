/**
 * `migrate-store --from=<address> --to=<address>`: copies a store into an empty one while no server runs on either.
 *
 * Exit codes: 0 copied and compared; 1 failed, the target cannot be used until the copy is repeated; 2 wrong arguments;
 * 3 refused, nothing has changed.
 */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { RECORD_KINDS, type StoreArchive } from './store/archive.js';
import { CopyRefusedError, copyStore, type CopyProgress } from './store/copy-store.js';
import { STORE_SCHEMES, storeAt } from './store/stores.js';

const USAGE = `Copies a store into an empty one. Stop all servers on both first.

  migrate-store --from=<address> --to=<address> [--from-db-name=<name>] [--to-db-name=<name>]

  An address is sqlite:<directory> (the data_dir of a server) or ${STORE_SCHEMES.map((scheme) => `${scheme}://…`).join(', ')}.
  An address with a password can be given in the environment instead: MIGRATE_FROM, MIGRATE_TO. The password of
  PostgreSQL can be in a file: --from-password-file, --to-password-file.
  The database names are the setting db_name of the servers. Default: stepwright
`;

const EMBEDDED_SCHEME = 'sqlite:';
const DEFAULT_DATABASE = 'stepwright';
/** Nodes write a heartbeat at least every 4 seconds. */
const WATCH_MS = 12_000;
const PROGRESS_INTERVAL_MS = 2000;

class UsageError extends Error {
  override readonly name = 'UsageError' as const;
}

interface Place {
  readonly address: string;
  readonly databaseName: string;
  readonly passwordFile: string | null;
}

process.exitCode = await main(process.argv.slice(2), process.env);

async function main(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): Promise<number> {
  const opened: StoreArchive[] = [];
  try {
    const places = readArguments(args, environment);
    if (places === null) {
      process.stdout.write(USAGE);
      return 0;
    }
    const source = await open(places.from, 'from');
    opened.push(source);
    const target = await open(places.to, 'to');
    opened.push(target);
    await copy(source, target);
    return 0;
  } catch (error) {
    process.stderr.write(
      `migrate-store: ${error instanceof Error ? error.message : String(error)}\n`,
    );
    if (error instanceof UsageError) return 2;
    return error instanceof CopyRefusedError ? 3 : 1;
  } finally {
    for (const archive of opened) await archive.close();
  }
}

async function copy(source: StoreArchive, target: StoreArchive): Promise<void> {
  const say = (line: string): void => void process.stdout.write(`${line}\n`);
  say(`from ${source.place}`);
  say(`to   ${target.place}`);
  const onProgress = progressTo(say);
  const tallies = await copyStore({ source, target, onProgress, watchMs: WATCH_MS });
  say('Copied. The number and the checksum of the records are the same on both sides:');
  for (const kind of RECORD_KINDS) {
    const { checksum, records } = tallies[kind];
    say(`  ${kind.padEnd(12)} ${String(records).padStart(10)}  ${checksum}`);
  }
}

/** Reports the last batch of each kind, and one every few seconds. */
function progressTo(say: (line: string) => void): (progress: CopyProgress) => void {
  let saidAt = performance.now();
  return ({ isLast, kind, of, phase, records }) => {
    const now = performance.now();
    if (!isLast && now - saidAt < PROGRESS_INTERVAL_MS) return;
    saidAt = now;
    const done = isLast ? String(records) : `${records} of about ${Math.max(of, records)}`;
    say(`${phase === 'copy' ? 'copying  ' : 'comparing'} ${kind.padEnd(12)} ${done}`);
  };
}

/** Null if help was requested. @throws UsageError */
function readArguments(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): { readonly from: Place; readonly to: Place } | null {
  const values = parse(args);
  if (values.help === true) return null;
  const from = placeOf('from', values.from ?? environment['MIGRATE_FROM'], {
    databaseName: values['from-db-name'] ?? DEFAULT_DATABASE,
    passwordFile: values['from-password-file'] ?? null,
  });
  const to = placeOf('to', values.to ?? environment['MIGRATE_TO'], {
    databaseName: values['to-db-name'] ?? DEFAULT_DATABASE,
    passwordFile: values['to-password-file'] ?? null,
  });
  if (from.address === to.address && from.databaseName === to.databaseName) {
    throw new UsageError('--from and --to are the same store');
  }
  return { from, to };
}

function parse(args: readonly string[]) {
  const text = { type: 'string' } as const;
  try {
    return parseArgs({
      args: [...args],
      options: {
        from: text,
        to: text,
        'from-db-name': text,
        'to-db-name': text,
        'from-password-file': text,
        'to-password-file': text,
        help: { type: 'boolean', short: 'h' },
      },
    }).values;
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
  }
}

function placeOf(
  side: 'from' | 'to',
  address: string | undefined,
  others: Omit<Place, 'address'>,
): Place {
  if (address === undefined || address === '') {
    throw new UsageError(`--${side} is missing\n\n${USAGE}`);
  }
  const isKnown =
    address.startsWith(EMBEDDED_SCHEME) ||
    STORE_SCHEMES.some((scheme) => address.startsWith(`${scheme}://`));
  if (isKnown) return { address, ...others };
  // The address may contain a password, so it is not shown.
  throw new UsageError(`--${side} must be the address of a store\n\n${USAGE}`);
}

async function open({ address, ...others }: Place, side: 'from' | 'to'): Promise<StoreArchive> {
  if (!address.startsWith(EMBEDDED_SCHEME)) {
    return storeAt(address).openArchive({ address, ...others, dataDir: '' });
  }
  const dataDir = path.resolve(address.slice(EMBEDDED_SCHEME.length));
  if (side === 'from' && !existsSync(dataDir)) {
    throw new UsageError(`--from: there is no directory ${dataDir}`);
  }
  return storeAt(null).openArchive({ address: '', ...others, dataDir });
}
