/** `stepwright explain`: explains why a run is waiting, and how to repair it. */
import type { Explanation, RepairHint, WaitReason } from '../../api/wire/models/explanation.js';
import { connect } from '../connection/connect.js';
import type { ServerCommandOptions } from '../connection/options.js';
import { pathTo } from '../connection/server-client.js';
import { jsonText, Output } from '../output/output.js';
import { plain, continued } from '../output/plain-text.js';
import { statusOf, styleOf } from '../output/runs.js';
import { relativeTime } from '../output/times.js';

export async function explain(workflowId: string, options: ServerCommandOptions): Promise<void> {
  const client = await connect(options);
  const explanation = await client.get<Explanation>(pathTo`/api/workflow/${workflowId}/explain`);
  const output = new Output();
  if (options.json) output.json(explanation);
  else print(output, explanation);
}

function print(output: Output, explanation: Explanation): void {
  const { lastRepair, moreReasons, reasons, repairs, summary, workflowId } = explanation;
  const status = statusOf(explanation);
  const style = styleOf(status);
  output.line(`${style === null ? status : output.paint(style, status)}: ${continued(summary)}`);
  if (reasons.length > 1 || reasons.some(({ stepId }) => stepId !== null)) {
    output.line();
    for (const reason of reasons) printReason(output, reason);
  }
  if (moreReasons > 0) output.line(`  and ${moreReasons} more`);
  if (lastRepair !== null) {
    const { action, actor, detail, time } = lastRepair;
    const when = relativeTime(time, output.now);
    output.line();
    output.line(
      plain(`Last repair: ${action} by ${actor}, ${when}${detail === null ? '' : `: ${detail}`}`),
    );
  }
  if (repairs.length === 0) return;
  output.line();
  output.line(output.paint('bold', 'Possible repairs (preview with --dry-run)'));
  for (const repair of repairs) printRepair(output, workflowId, repair);
}

function printReason(
  output: Output,
  { attempt, executionId, index, stepId, text }: WaitReason,
): void {
  const step = stepId === null ? '' : `${stepId}${index === null ? '' : `[${index}]`} `;
  const number = executionId === null ? '' : `#${executionId}`;
  const tries = attempt !== null && attempt > 1 ? `, attempt ${attempt}` : '';
  const place =
    step === ''
      ? ''
      : `${output.paint('bold', plain(step))}${output.paint('dim', `(${number}${tries})`)} `;
  output.line(`  ${place}${continued(text)}`);
}

function printRepair(output: Output, workflowId: string, { action, body, text }: RepairHint): void {
  const more = Object.keys(body).length === 0 ? '' : ` --body ${quoted(jsonText(body))}`;
  output.line(`  ${plain(text)}:`);
  output.line(output.paint('dim', `    stepwright ${action} ${workflowId} --reason '…'${more}`));
}

/** Quotes a text as one shell word. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
