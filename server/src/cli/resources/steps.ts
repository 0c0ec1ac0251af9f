/** `stepwright steps`: lists the executions of a run or, with `--follow`, prints them live. */
import { Option } from 'commander';
import type {
  StepExecution,
  StepExecutionStatusFilter,
} from '../../api/wire/models/step-execution.js';
import { readDuration, readIndex, readVersion } from '../arguments/values.js';
import { withPage, type PageOptions } from '../connection/options.js';
import { pathTo } from '../connection/server-client.js';
import { EXIT_CODES } from '../exit-codes.js';
import { STEP_COLUMNS } from '../output/steps.js';
import { printList, serverCommand, type Call } from './server-command.js';

interface StepsOptions extends PageOptions {
  readonly step?: string;
  readonly status?: StepExecutionStatusFilter;
  readonly item?: number;
  readonly turn?: number;
  readonly search?: string;
  readonly newest: boolean;
  readonly follow: boolean;
  readonly timeout?: number;
}

const STATUSES: readonly StepExecutionStatusFilter[] = [
  'Pending',
  'Running',
  'Waiting',
  'Retrying',
  'Complete',
  'Failed',
  'Cancelled',
  'Compensated',
];

export const steps = serverCommand({
  description: 'list the steps of a run, or follow them',
  declare: (command) =>
    withPage(
      command
        .argument('<run>', 'the id of a run')
        .option('--follow', 'print the steps as they run, until the run ends', false)
        .option('--timeout <duration>', 'with --follow: the maximum time', readDuration)
        .option('--newest', 'open steps first, then the newest', false)
        .option('--step <id>', 'only this step')
        .addOption(new Option('--status <status>', 'only with this status').choices(STATUSES))
        .option('--item <index>', 'only for this item of a Foreach, from 0', readIndex)
        .option(
          '--turn <number>',
          'with --step: only this iteration of a loop, from 1',
          readVersion,
        )
        .option('--search <text>', 'only with this text in inputs, outputs, item or error'),
      50,
    ),
  run: async (call: Call<StepsOptions>, workflowId: string) => {
    const client = await call.connect();
    const { follow, item, newest, search, status, step: stepId, turn } = call.options;
    if (follow) {
      const { followToEnd } = await import('./follow.js');
      return followToEnd(client, workflowId, call.output, call.options);
    }
    const order = newest ? 'desc' : 'asc';
    const query = { item, order, search, status, stepId, turn };
    const path = pathTo`/api/workflow/${workflowId}/steps`;
    const list = { path, query, columns: STEP_COLUMNS, nouns: 'steps' };
    await printList<StepExecution>(call, client, list);
    return EXIT_CODES.done;
  },
});
