/**
 * `stepwright fmt`: writes definitions in canonical form. A file is replaced atomically, and keeps its line endings and byte
 * order mark.
 */
import path from 'node:path';
import { CommandFailure } from '../failure.js';
import { EXIT_CODES, type ExitCode } from '../exit-codes.js';
import { readBounded, writeBounded } from '../files/bounded-files.js';
import type { Problem } from '../files/store-files.js';
import { readWorkflowFiles, type WorkflowFile } from '../files/workflow-files.js';
import { FormatProblem } from '../format/format-problem.js';
import { formatJson } from '../format/format-json.js';
import { formatYaml } from '../format/format-yaml.js';
import { projectStyle } from '../format/project-style.js';
import { Output } from '../output/output.js';
import { plain } from '../output/plain-text.js';
import { asText } from '../output/print-problems.js';

export interface FmtOptions {
  /** Changes nothing. */
  readonly check: boolean;
  readonly json: boolean;
}

interface Formatted {
  readonly file: WorkflowFile;
  readonly state: 'formatted' | 'unchanged' | 'failed';
  readonly problem: Problem | null;
}

/** @returns 1 if a file cannot be formatted or, with `check`, is not formatted. @throws CommandFailure */
export async function fmt(
  paths: readonly string[],
  { check, json }: FmtOptions,
): Promise<ExitCode> {
  const files = (await readWorkflowFiles(paths)).filter(({ kind }) => kind === 'definition');
  if (files.length === 0) {
    throw new CommandFailure(`there are no definitions in ${paths.join(', ')}`);
  }
  const results: Formatted[] = [];
  for (const file of files) results.push(await formatOne(file, check));
  const output = new Output({ json });
  const formatted = results.map(({ file, problem, state }) => ({
    file: file.path,
    state,
    problem,
  }));
  output.result({ files: formatted }, () => {
    for (const result of results) printOne(output, result, check);
  });
  const isBad = ({ state }: Formatted): boolean =>
    state === 'failed' || (check && state === 'formatted');
  return results.some(isBad) ? EXIT_CODES.failed : EXIT_CODES.done;
}

async function formatOne(file: WorkflowFile, check: boolean): Promise<Formatted> {
  try {
    if (file.unreadable !== null)
      throw new FormatProblem(`the file cannot be read: ${file.unreadable}`);
    const text = file.text.replaceAll('\r\n', '\n');
    const formatted = await formatText(file.path, text);
    if (formatted === text) return { file, state: 'unchanged', problem: null };
    if (!check) await replace(file, formatted);
    return { file, state: 'formatted', problem: null };
  } catch (error) {
    return { file, state: 'failed', problem: problemOf(error) };
  }
}

async function formatText(file: string, text: string): Promise<string> {
  const style = await projectStyle(file);
  return /\.json$/i.test(file) ? formatJson(text, style) : formatYaml(text, style);
}

const BYTE_ORDER_MARK = '\uFEFF';

/** Windows line endings come from the checkout, so a single one determines the style of the file. */
async function asBefore(folder: string, file: string, text: string): Promise<string> {
  const before = (await readBounded(folder, file)).bytes.toString('utf8');
  const mark = before.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : '';
  return mark + (before.includes('\r\n') ? text.replaceAll('\n', '\r\n') : text);
}

/** A link stays a link: the file that was read is replaced, and keeps its permissions. */
async function replace({ realPath }: WorkflowFile, text: string): Promise<void> {
  const folder = path.dirname(realPath);
  await writeBounded(folder, realPath, await asBefore(folder, realPath, text));
}

function problemOf(error: unknown): Problem {
  // The YAML library is recursive.
  const reason =
    error instanceof RangeError
      ? 'it is nested too deeply'
      : error instanceof Error
        ? error.message
        : String(error);
  const place = error instanceof FormatProblem ? error.place : null;
  return { severity: 'error', code: 'not_formatted', message: reason, ...place };
}

function printOne(output: Output, { file, problem, state }: Formatted, check: boolean): void {
  if (problem !== null) output.line(asText({ file, problems: [problem] }, output.paint));
  if (state === 'formatted') {
    output.line(`${plain(file.path)}: ${check ? 'not formatted' : 'formatted'}`);
  }
}
