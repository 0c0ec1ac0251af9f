/** `stepwright list` and `stepwright show`: lists runs, and shows a run with its data. */
import type { Workflow, WorkflowSummary } from '../../api/wire/models/workflow.js';
import { filterOf, withFilter, type FilterOptions } from '../arguments/run-filter.js';
import { withPage } from '../connection/options.js';
import { pathTo } from '../connection/server-client.js';
import type { Output } from '../output/output.js';
import { continued } from '../output/plain-text.js';
import { RUN_COLUMNS, statusOf, styleOf, tagsText } from '../output/runs.js';
import { durationOf, fullTime } from '../output/times.js';
import { listCommand, serverCommand, type Call } from './server-command.js';

export const list = listCommand<WorkflowSummary, FilterOptions>({
  description: 'list runs, newest first',
  declare: (command) => withFilter(withPage(command, 20)),
  path: () => '/api/workflow',
  query: filterOf,
  columns: RUN_COLUMNS,
  nouns: 'runs',
});

export const show = serverCommand({
  description: 'show a run with its data',
  declare: (command) => command.argument('<run>', 'the id of a run'),
  run: async ({ connect, output }: Call, workflowId: string) => {
    const client = await connect();
    const run = await client.get<Workflow>(pathTo`/api/workflow/${workflowId}`);
    output.result(run, () => printRun(output, run));
  },
});

/** When it failed, and when it first failed in the same way. */
function failureText(
  { failingSince, failureTime }: Workflow,
  time: (value: string | null) => string,
): string {
  if (failureTime === null || failingSince === failureTime) return time(failureTime);
  return `${time(failureTime)}; first like this ${time(failingSince)}`;
}

/** Empty if it has no key. A weight of 1 is the default. */
function fairnessText({ fairnessKey, fairnessWeight }: Workflow): string {
  if (fairnessKey === null) return '';
  return fairnessWeight === 1 ? fairnessKey : `${fairnessKey}, weight ${fairnessWeight}`;
}

function printRun(output: Output, run: Workflow): void {
  const { data, endTime, lastError, startTime } = run;
  const status = statusOf(run);
  const time = (value: string | null): string =>
    value === null ? '' : fullTime(value, output.now);
  output.pairs([
    ['Run', run.workflowId],
    ['Definition', `${run.definitionId}, version ${run.version}`],
    ['Status', status, styleOf(status)],
    ['Reference', run.reference ?? ''],
    ['Tags', tagsText(run.tags)],
    ['Priority', String(run.priority)],
    ['Fairness', fairnessText(run)],
    ['Parent', run.parent?.workflowId ?? ''],
    ['Restart of', run.restartOf ?? ''],
    ['Restarted as', run.restartedAs ?? ''],
    ['Started', time(startTime)],
    ['Ended', endTime === null ? '' : `${time(endTime)}, after ${durationOf(startTime, endTime)}`],
    ['Last change', endTime === null ? time(run.lastChangeTime) : ''],
    ['Failed', failureText(run, time)],
  ]);
  if (lastError !== null) {
    const { attempt, message, stepId, traceback, type } = lastError;
    output.line();
    const text = `${stepId}, attempt ${attempt}: ${type}: ${message}`;
    output.line(`${output.paint('bold', 'Error')}  ${output.paint('red', continued(text))}`);
    if (traceback !== null)
      output.line(output.paint('dim', `  | ${continued(traceback.trimEnd())}`));
  }
  output.line();
  output.line(output.paint('bold', 'Data'));
  output.json(data);
}
