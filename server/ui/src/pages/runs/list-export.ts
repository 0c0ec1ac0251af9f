/** Exports a list of runs as CSV or JSON. */
import { stringifyJson, type Page, type WorkflowSummary } from '@stepwright/sdk';
import { valuesOf } from './conditions.js';

/** Maximum number of runs per export: the browser holds them in memory. */
export const EXPORT_MAX = 10_000;

export type ExportFormat = 'csv' | 'json';

type Cell = string | number | bigint | boolean | null;

const CSV_COLUMNS: Readonly<Record<string, (run: WorkflowSummary) => Cell>> = {
  Run: ({ workflowId }) => workflowId,
  Definition: ({ definitionId }) => definitionId,
  Version: ({ version }) => version,
  Reference: ({ reference }) => reference,
  Status: ({ status }) => status,
  Outcome: ({ outcome }) => outcome,
  Failure: ({ failure }) => failure?.message ?? null,
  Started: ({ startTime }) => startTime,
  Ended: ({ endTime }) => endTime,
  Changed: ({ lastChangeTime }) => lastChangeTime,
};

export interface ExportedRuns {
  readonly runs: readonly WorkflowSummary[];
  /** False: there are more than `EXPORT_MAX`. */
  readonly isComplete: boolean;
}

/** @param onProgress called after each page, with the number of runs so far */
export async function readRuns(
  pages: AsyncIterable<Page<WorkflowSummary>>,
  onProgress: (count: number) => void,
): Promise<ExportedRuns> {
  const runs: WorkflowSummary[] = [];
  for await (const { items, nextCursor } of pages) {
    runs.push(...items);
    onProgress(Math.min(runs.length, EXPORT_MAX));
    if (runs.length > EXPORT_MAX || (runs.length === EXPORT_MAX && nextCursor !== null)) {
      return { runs: runs.slice(0, EXPORT_MAX), isComplete: false };
    }
  }
  return { runs, isComplete: true };
}

/** @param fields the index fields and tags that become columns of a CSV file */
export function exportText(
  runs: readonly WorkflowSummary[],
  format: ExportFormat,
  fields: readonly string[],
): string {
  return format === 'json' ? stringifyJson(runs, 2) : csvOf(runs, fields);
}

function csvOf(runs: readonly WorkflowSummary[], fields: readonly string[]): string {
  const header = [...Object.keys(CSV_COLUMNS), ...fields];
  const rows = runs.map((run) => [
    ...Object.values(CSV_COLUMNS).map((cell) => cell(run)),
    ...fields.map((name) => fieldCell(run, name)),
  ]);
  // RFC 4180 ends each line with CRLF.
  return [header, ...rows].map((row) => `${row.map(cellText).join(',')}\r\n`).join('');
}

function fieldCell(run: WorkflowSummary, name: string): Cell {
  const values = valuesOf(run, name);
  return values.length === 1 ? (values[0] ?? null) : values.join(', ');
}

function cellText(cell: Cell): string {
  if (typeof cell !== 'string') return cell === null ? '' : String(cell);
  // Spreadsheets would interpret such text as a formula, and the data is untrusted.
  const text = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
