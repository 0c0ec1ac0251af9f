/** `stepwright explain`: explains why a run is waiting, and how to repair it. */
import type { Explanation, RepairHint, WaitReason } from '../../api/wire/models/explanation.js';
import { pathTo } from '../connection/server-client.js';
import { jsonText, type Output } from '../output/output.js';
import { plain, continued } from '../output/plain-text.js';
import { paintedStatus } from '../output/runs.js';
import { relativeTime } from '../output/times.js';
import { serverCommand, type Call } from './server-command.js';

export const explain = serverCommand({
  description: 'explain why a run is waiting, and how to repair it',
  declare: (command) => command.argument('<run>', 'the id of a run'),
  run: async ({ connect, output }: Call, workflowId: string) => {
    const client = await connect();
    const explanation = await client.get<Explanation>(pathTo`/api/workflow/${workflowId}/explain`);
    output.result(explanation, () => print(output, explanation));
  },
});

function print(output: Output, explanation: Explanation): void {
  const { lastRepair, moreReasons, reasons, repairs, summary, workflowId } = explanation;
  output.line(`${paintedStatus(explanation, output.paint)}: ${continued(summary)}`);
  if (reasons.length > 1 || reasons.some(({ stepId }) => stepId !== null)) {
    output.line();
    for (const reason of reasons) printReason(output, reason);
  }
  const holders = reasons.flatMap((reason) => reason.holders ?? []);
  for (const holder of holders) output.line(plain(`  waits for run ${holder}`));
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
