/** `stepwright diff` and `stepwright apply`: previews or applies the changes of a folder to a server. */
import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { createTwoFilesPatch } from 'diff';
import type { DefinitionSummary } from '../../api/wire/models/definition.js';
import type { Limit } from '../../api/wire/models/limit.js';
import type { StepPage } from '../../api/wire/models/step.js';
import { findServer } from '../connection/connect.js';
import type { ServerCommandOptions } from '../connection/options.js';
import { readPages } from '../connection/pages.js';
import { ServerClient } from '../connection/server-client.js';
import { EXIT_CODES, type ExitCode } from '../exit-codes.js';
import { CommandFailure, misused } from '../failure.js';
import { checkFiles, type Known } from '../files/check-files.js';
import { deploy, planOf, type Change } from '../files/deployment.js';
import { limitText } from '../files/limit-files.js';
import { findOrigin } from '../files/origin.js';
import { definitionsOn, disabledAmong, staleAmong } from '../files/pruning.js';
import { readWorkflowFiles, type WorkflowFile } from '../files/workflow-files.js';
import type { Output } from '../output/output.js';
import { plain, plainLines } from '../output/plain-text.js';
import { asText, type FileProblems } from '../output/print-problems.js';

interface FolderOptions extends ServerCommandOptions {
  readonly origin?: string;
  /** Whether to disable definitions from an earlier apply that the folder no longer contains. */
  readonly prune: boolean;
}

export interface DiffOptions extends FolderOptions {
  /** Exits with 1 if there are differences. */
  readonly exitCode: boolean;
}

export interface ApplyOptions extends FolderOptions {
  /** Changes nothing. */
  readonly dryRun: boolean;
  /** Disables without asking. */
  readonly yes: boolean;
}

/** The planned changes and their context. */
interface Plan {
  readonly origin: string | null;
  readonly changes: readonly Change[];
  /** The definitions to disable. */
  readonly stale: readonly DefinitionSummary[];
}

const KNOWN_MAX = 10_000;
/** The time to compare long texts grows with the square of their differences. */
const EDITS_MAX = 5000;

/** @throws CommandFailure */
export async function diff(
  folder: string,
  options: DiffOptions,
  output: Output,
): Promise<ExitCode> {
  const server = await findServer(options);
  const files = await filesOf(folder);
  for (const { path, unreadable } of files) {
    if (unreadable !== null) throw new CommandFailure(`${path} cannot be read: ${unreadable}`);
  }
  const origin = await originOf(folder, options);
  const plan = await planFor(files, new ServerClient(server), origin, options);
  const { changes, stale } = plan;
  const entries = changes.map((change) => ({ ...entryOf(change), before: change.before }));
  output.result({ origin, changes: entries, ...pruned(plan, options) }, () => {
    for (const change of changes) if (change.action !== 'unchanged') printPatch(output, change);
    for (const each of stale) output.line(output.paint('red', wouldDisable(each)));
    output.note(summaryOf(plan, options));
  });
  const hasChanges = stale.length > 0 || changes.some(({ action }) => action !== 'unchanged');
  return options.exitCode && hasChanges ? EXIT_CODES.failed : EXIT_CODES.done;
}

/** Nothing is changed unless all files are valid. @throws CommandFailure */
export async function apply(
  folder: string,
  options: ApplyOptions,
  output: Output,
): Promise<ExitCode> {
  const server = await findServer(options);
  const client = new ServerClient(server);
  const files = await filesOf(folder);
  const origin = await originOf(folder, options);
  const found = await checkFiles(files, await knownOn(client));
  for (const each of found) printProblems(output, each);
  if (found.some(({ problems }) => problems.some(({ severity }) => severity === 'error'))) {
    throw new CommandFailure('nothing was applied, because of the errors above');
  }
  const plan = await planFor(files, client, origin, options);
  if (options.dryRun) {
    printResult(output, plan, new Map(), options);
    return EXIT_CODES.done;
  }
  if (plan.stale.length > 0 && !options.yes) await confirm(output, plan.stale);
  const { disabled, rejected, versions } = await deploy(server, files, plan);
  printResult(output, { ...plan, stale: disabled }, versions, options);
  if (rejected === null) {
    await noteDisabled(output, client, files);
    return EXIT_CODES.done;
  }
  printProblems(output, rejected);
  throw new CommandFailure(
    `the server rejected ${rejected.file.path}: the files after it were not applied`,
    'Correct the file and repeat the command',
  );
}

/** @throws CommandFailure if --prune can't identify the folder's own definitions */
async function originOf(folder: string, options: FolderOptions): Promise<string | null> {
  const origin = await findOrigin(folder, options.origin);
  if (origin !== null || !options.prune) return origin;
  throw misused('--prune needs the origin of the folder: add --origin <name>');
}

async function planFor(
  files: readonly WorkflowFile[],
  client: ServerClient,
  origin: string | null,
  options: FolderOptions,
): Promise<Plan> {
  const changes = await planOf(await findServer(options), files);
  const isPruned = options.prune && origin !== null;
  const stale = isPruned ? staleAmong(await definitionsOn(client), files, origin) : [];
  return { origin, changes, stale };
}

/** @throws CommandFailure unless the user confirms */
async function confirm(output: Output, stale: readonly DefinitionSummary[]): Promise<void> {
  for (const each of stale) output.note(wouldDisable(each));
  const question = `disable ${stale.length} definition${stale.length === 1 ? '' : 's'}`;
  if (!process.stdin.isTTY) throw misused(`--prune would ${question}: add --yes to confirm`);
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  // End of input isn't a confirmation.
  const ended = once(terminal, 'close').then(() => '');
  const asked = terminal.question(`Apply the folder, and ${question}? [y/N] `).catch(() => '');
  const answer = await Promise.race([asked, ended]);
  terminal.close();
  if (!/^y(es)?$/i.test(answer.trim())) throw new CommandFailure('nothing was applied');
}

/** A user has disabled it for a reason that this command doesn't know, so it stays disabled. */
async function noteDisabled(
  output: Output,
  client: ServerClient,
  files: readonly WorkflowFile[],
): Promise<void> {
  for (const { id } of disabledAmong(await definitionsOn(client), files)) {
    const name = plain(id);
    output.note(
      `${name} is disabled on the server. To allow starts: stepwright definitions enable ${name}`,
    );
  }
}

function wouldDisable({ id, origin, version }: DefinitionSummary): string {
  return `${plain(id)}: would be disabled (version ${version}, from ${plain(origin ?? '')})`;
}

/** For programs. */
function pruned({ stale }: Plan, options: FolderOptions): { disable?: readonly object[] } {
  if (!options.prune) return {};
  return { disable: stale.map(({ id, origin, version }) => ({ id, version, origin })) };
}

async function filesOf(folder: string): Promise<WorkflowFile[]> {
  const files = await readWorkflowFiles([folder]);
  if (files.length > 0) return files;
  throw new CommandFailure(`there are no definitions, scripts or limits in ${folder}`);
}

/** Definitions may use custom steps and limits that were stored in other ways. */
async function knownOn(client: ServerClient): Promise<Known> {
  const query = { limit: KNOWN_MAX };
  const steps = await readPages<StepPage['items'][number]>(client, '/api/step', query);
  const limits = await readPages<Limit>(client, '/api/limit', query);
  return {
    stepNames: steps.items.map(({ name }) => name),
    limits: new Map(limits.items.map((limit) => [limit.name, limitText(limit.name, limit)])),
  };
}

function entryOf({
  action,
  file,
  name,
}: Change): Record<'file' | 'kind' | 'id' | 'action', string> {
  return { file: file.path, kind: file.kind, id: name, action };
}

function printPatch(output: Output, { after, before, file }: Change): void {
  const { path } = file;
  const names = [`${path} (server)`, path] as const;
  const patch = createTwoFilesPatch(...names, before, after, '', '', { maxEditLength: EDITS_MAX });
  // Undefined if the texts are too different to compare.
  const lines = (patch ?? `--- ${names[0]}\n+++ ${names[1]}\nThe texts differ widely`).split('\n');
  for (const line of lines.filter((each) => !each.startsWith('====='))) {
    const text = plainLines(line);
    const style = line.startsWith('+') ? 'green' : line.startsWith('-') ? 'red' : null;
    output.line(style === null ? text : output.paint(style, text));
  }
}

/** The stream on which problems don't interfere with the JSON. */
function printProblems(output: Output, found: FileProblems): void {
  if (found.problems.length > 0) output.note(asText(found, (_style, text) => text));
}

function printResult(
  output: Output,
  plan: Plan,
  versions: ReadonlyMap<string, number | null>,
  options: ApplyOptions,
): void {
  const { changes, origin, stale } = plan;
  const { dryRun } = options;
  const entries = changes.map((change) => ({
    ...entryOf(change),
    version: versions.get(change.file.path) ?? null,
  }));
  output.result({ dryRun, origin, changes: entries, ...pruned(plan, options) }, () => {
    for (const { action, file } of changes) {
      const version = versions.get(file.path);
      if (dryRun && action !== 'unchanged') output.line(`${plain(file.path)}: would ${action}`);
      else if (version !== undefined) {
        output.line(`${plain(file.path)}: ${version === null ? 'set up' : `version ${version}`}`);
      }
    }
    for (const each of stale)
      output.line(dryRun ? wouldDisable(each) : `${plain(each.id)}: disabled`);
    output.note(`${dryRun ? 'dry run: ' : ''}${summaryOf(plan, options)}`);
  });
}

function summaryOf({ changes, origin, stale }: Plan, options: FolderOptions): string {
  const count = (wanted: Change['action']): number =>
    changes.filter(({ action }) => action === wanted).length;
  const parts = [`${count('create')} to create`, `${count('update')} to update`];
  if (options.prune) parts.push(`${stale.length} to disable`);
  parts.push(`${count('unchanged')} unchanged`);
  // Without an origin, `--prune` can never attribute these definitions to the folder.
  const from = origin === null ? 'no origin (set one with --origin)' : `origin: ${plain(origin)}`;
  return `${parts.join(', ')}; ${from}`;
}
