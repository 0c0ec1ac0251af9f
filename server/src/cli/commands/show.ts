/** `stepwright show`: shows a run with its data. */
import type { Workflow } from '../../api/wire/models/workflow.js';
import { connect } from '../connection/connect.js';
import type { ServerCommandOptions } from '../connection/options.js';
import { pathTo } from '../connection/server-client.js';
import { Output } from '../output/output.js';
import { continued } from '../output/plain-text.js';
import { statusOf, styleOf, tagsText } from '../output/runs.js';
import { durationOf, fullTime } from '../output/times.js';

export async function show(workflowId: string, options: ServerCommandOptions): Promise<void> {
  const client = await connect(options);
  const run = await client.get<Workflow>(pathTo`/api/workflow/${workflowId}`);
  const output = new Output();
  if (options.json) output.json(run);
  else printRun(output, run);
}

/** When it failed, and when it first failed in the same way. */
function failureText(
  { failingSince, failureTime }: Workflow,
  time: (value: string | null) => string,
): string {
  if (failureTime === null || failingSince === failureTime) return time(failureTime);
  return `${time(failureTime)}; first like this ${time(failingSince)}`;
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
