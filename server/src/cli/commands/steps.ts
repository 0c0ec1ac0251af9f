/** `stepwright steps`: lists the executions of a run or, with `--follow`, prints them live. */
import type {
  StepExecution,
  StepExecutionStatusFilter,
} from '../../api/wire/models/step-execution.js';
import { connect } from '../connection/connect.js';
import type { ServerCommandOptions } from '../connection/options.js';
import { readPages } from '../connection/pages.js';
import { pathTo } from '../connection/server-client.js';
import { EXIT_CODES, type ExitCode } from '../exit-codes.js';
import { Output } from '../output/output.js';
import { noteMore } from '../output/runs.js';
import { printSteps } from '../output/steps.js';
import { exitCodeOf, printSettled, untilSettled } from './follow.js';

export interface StepsOptions extends ServerCommandOptions {
  readonly step?: string;
  readonly status?: StepExecutionStatusFilter;
  readonly item?: number;
  readonly turn?: number;
  readonly search?: string;
  readonly newest: boolean;
  readonly follow: boolean;
  readonly timeout?: number;
  readonly limit: number;
  readonly cursor?: string;
}

export async function steps(workflowId: string, options: StepsOptions): Promise<ExitCode> {
  const client = await connect(options);
  const output = new Output();
  if (options.follow) {
    const settled = await untilSettled(client, workflowId, output, options);
    printSettled(output, settled, options);
    return exitCodeOf(settled);
  }
  const { cursor, item, limit, newest, search, status, step: stepId, turn } = options;
  const order = newest ? 'desc' : 'asc';
  const page = await readPages<StepExecution>(client, pathTo`/api/workflow/${workflowId}/steps`, {
    cursor,
    item,
    limit,
    order,
    search,
    status,
    stepId,
    turn,
  });
  if (options.json) output.json(page);
  else {
    if (page.items.length > 0) printSteps(output, page.items);
    noteMore(output, page, 'steps');
  }
  return EXIT_CODES.done;
}
