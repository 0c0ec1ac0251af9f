/** `stepwright diff` and `stepwright apply`: what a folder would change on a server, and the change. */
import { createTwoFilesPatch } from 'diff';
import type { StepPage } from '../../api/wire/models/step.js';
import { findServer } from '../connection/connect.js';
import type { ServerCommandOptions } from '../connection/options.js';
import { readPages } from '../connection/pages.js';
import { ServerClient } from '../connection/server-client.js';
import { EXIT_CODES, type ExitCode } from '../exit-codes.js';
import { CommandFailure } from '../failure.js';
import { checkFiles } from '../files/check-files.js';
import { deploy, planOf, type Change } from '../files/deployment.js';
import type { ServerCalls } from '../files/store-files.js';
import { readWorkflowFiles, type WorkflowFile } from '../files/workflow-files.js';
import { Output } from '../output/output.js';
import { plain, plainLines } from '../output/plain-text.js';
import { asText, type FileProblems } from '../output/print-problems.js';

export interface DiffOptions extends ServerCommandOptions {
  /** Ends with 1 if there are differences. */
  readonly exitCode: boolean;
}

export interface ApplyOptions extends ServerCommandOptions {
  /** Changes nothing. */
  readonly dryRun: boolean;
}

const STEP_NAMES_MAX = 10_000;
/** Comparing long texts takes time with the square of their differences. */
const EDITS_MAX = 5000;

/** @throws CommandFailure */
export async function diff(folder: string, options: DiffOptions): Promise<ExitCode> {
  const output = new Output();
  const server = await findServer(options);
  const files = await filesOf(folder);
  for (const { path, unreadable } of files) {
    if (unreadable !== null) throw new CommandFailure(`${path} cannot be read: ${unreadable}`);
  }
  const changes = await planOf(server, files);
  if (options.json) {
    output.json({
      changes: changes.map((change) => ({ ...entryOf(change), before: change.before })),
    });
  } else {
    for (const change of changes) if (change.action !== 'unchanged') printPatch(output, change);
    output.note(summaryOf(changes));
  }
  const hasChanges = changes.some(({ action }) => action !== 'unchanged');
  return options.exitCode && hasChanges ? EXIT_CODES.failed : EXIT_CODES.done;
}

/** Nothing is changed unless all files are valid. @throws CommandFailure */
export async function apply(folder: string, options: ApplyOptions): Promise<ExitCode> {
  const output = new Output();
  const server = await findServer(options);
  const files = await filesOf(folder);
  const found = await checkFiles(files, await otherSteps(server));
  for (const each of found) printProblems(output, each);
  if (found.some(({ problems }) => problems.some(({ severity }) => severity === 'error'))) {
    throw new CommandFailure('nothing was applied, because of the errors above');
  }
  const changes = await planOf(server, files);
  if (options.dryRun) {
    printResult(output, changes, new Map(), options);
    return EXIT_CODES.done;
  }
  const { rejected, versions } = await deploy(server, files);
  printResult(output, changes, versions, options);
  if (rejected === null) return EXIT_CODES.done;
  printProblems(output, rejected);
  throw new CommandFailure(
    `the server rejects ${rejected.file.path}: the files after it were not applied`,
    'Correct the file and repeat the command',
  );
}

async function filesOf(folder: string): Promise<WorkflowFile[]> {
  const files = await readWorkflowFiles([folder]);
  if (files.length > 0) return files;
  throw new CommandFailure(`there are no definitions or scripts in ${folder}`);
}

/** Definitions may use steps that were stored otherwise. */
async function otherSteps(server: ServerCalls): Promise<string[]> {
  const client = new ServerClient(server);
  const query = { limit: STEP_NAMES_MAX };
  const { items } = await readPages<StepPage['items'][number]>(client, '/api/step', query);
  return items.map(({ name }) => name);
}

function entryOf({
  action,
  file,
  name,
}: Change): Record<'file' | 'kind' | 'id' | 'action', string> {
  return { file: file.path, kind: file.kind, id: name, action };
}

function printPatch(output: Output, { before, file }: Change): void {
  const { path, text } = file;
  const names = [`${path} (server)`, path] as const;
  const patch = createTwoFilesPatch(...names, before, text, '', '', { maxEditLength: EDITS_MAX });
  // Undefined: too different to be compared.
  const lines = (patch ?? `--- ${names[0]}\n+++ ${names[1]}\nThe texts differ widely`).split('\n');
  for (const line of lines.filter((each) => !each.startsWith('====='))) {
    const text = plainLines(line);
    const style = line.startsWith('+') ? 'green' : line.startsWith('-') ? 'red' : null;
    output.line(style === null ? text : output.paint(style, text));
  }
}

/** Where problems do not disturb the JSON. */
function printProblems(output: Output, found: FileProblems): void {
  if (found.problems.length > 0) output.note(asText(found, (_style, text) => text));
}

function printResult(
  output: Output,
  changes: readonly Change[],
  versions: ReadonlyMap<string, number>,
  { dryRun, json }: ApplyOptions,
): void {
  if (json) {
    const entries = changes.map((change) => ({
      ...entryOf(change),
      version: versions.get(change.file.path) ?? null,
    }));
    output.json({ dryRun, changes: entries });
    return;
  }
  for (const { action, file } of changes) {
    const version = versions.get(file.path);
    if (dryRun && action !== 'unchanged') output.line(`${plain(file.path)}: would ${action}`);
    else if (version !== undefined) output.line(`${plain(file.path)}: version ${version}`);
  }
  output.note(`${dryRun ? 'dry run: ' : ''}${summaryOf(changes)}`);
}

function summaryOf(changes: readonly Change[]): string {
  const count = (wanted: Change['action']): number =>
    changes.filter(({ action }) => action === wanted).length;
  return `${count('create')} to create, ${count('update')} to update, ${count('unchanged')} unchanged`;
}
