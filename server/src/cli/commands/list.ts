/** `stepwright list`: lists runs, newest first. */
import type { WorkflowFilter } from '../../api/wire/models/workflow-filter.js';
import type { WorkflowSummary } from '../../api/wire/models/workflow.js';
import { connect } from '../connection/connect.js';
import type { ServerCommandOptions } from '../connection/options.js';
import { readPages } from '../connection/pages.js';
import { Output } from '../output/output.js';
import { noteMore, printRuns } from '../output/runs.js';
import { filterOf, type FilterOptions } from '../arguments/run-filter.js';

export interface ListOptions extends ServerCommandOptions, FilterOptions {
  readonly limit: number;
  readonly cursor?: string;
}

export async function list(options: ListOptions): Promise<void> {
  const client = await connect(options);
  const filter: WorkflowFilter = filterOf(options);
  const { cursor, limit } = options;
  const page = await readPages<WorkflowSummary>(client, '/api/workflow', {
    ...filter,
    cursor,
    limit,
  });
  const output = new Output();
  if (options.json) {
    output.json(page);
    return;
  }
  if (page.items.length > 0) printRuns(output, page.items);
  noteMore(output, page, 'runs');
}
