/** `stepwright modify`, `rerun` and `restart`. */
import type { Command } from 'commander';
import type { RestartRequest } from '../../api/wire/models/control.js';
import type {
  ModificationRequest,
  RepairedWorkflow,
  RerunRequest,
} from '../../api/wire/models/repair.js';
import type { ControlledWorkflow } from '../../api/wire/models/workflow.js';
import type { JsonObject } from '../../engine/values/json.js';
import { readObject } from '../arguments/data.js';
import { collect, readVersion } from '../arguments/values.js';
import { jsonContent, pathTo } from '../connection/server-client.js';
import { misused } from '../failure.js';
import type { Output } from '../output/output.js';
import { plain } from '../output/plain-text.js';
import { statusOf } from '../output/runs.js';
import { serverCommand, type Call } from './server-command.js';

interface RepairOptions {
  readonly reason: string;
  /** The whole body, as `explain` prints it; the other options override its members. */
  readonly body?: string;
  readonly version?: number;
  readonly idempotencyKey?: string;
}

interface RerunOptions extends RepairOptions {
  readonly from?: string;
  readonly data?: readonly string[];
  readonly dryRun?: boolean;
}

interface ModifyOptions extends RepairOptions {
  readonly data?: readonly string[];
  readonly cancel?: readonly string[];
  readonly start?: readonly string[];
  readonly stepMap?: readonly string[];
  readonly resume?: boolean;
  readonly dryRun?: boolean;
}

export const rerun = serverCommand({
  description: 'cancel everything in a run, restart it at a step, and resume it',
  declare: (command) =>
    withCommonOptions(command, (own) =>
      own
        .option('--from <step>', 'the step to start at; default: the first')
        .option('-d, --data <data>', 'changes to the data: JSON, @file or name=value', collect)
        .option('--dry-run', 'only preview the changes'),
    ),
  run: async (call: Call<RerunOptions>, workflowId: string) => {
    const { data, dryRun, from, reason, version } = call.options;
    const request: Partial<RerunRequest> = {
      ...(await bodyOf(call.options)),
      reason,
      ...(from !== undefined && { from }),
      ...(data !== undefined && { data: await readObject(data, '--data') }),
      ...(version !== undefined && { version }),
      ...(dryRun !== undefined && { dryRun }),
    };
    await repair(call, workflowId, 'rerun', request);
  },
});

export const modify = serverCommand({
  description: 'cancel and start steps of a run, and change its data or version',
  declare: (command) =>
    withCommonOptions(command, (own) =>
      own
        .option('-d, --data <data>', 'changes to the data: JSON, @file or name=value', collect)
        .option('--cancel <execution>', 'the number of an open execution, or * for all', collect)
        .option('--start <step>', 'a step to start; repeatable', collect)
        .option('--step-map <old=new>', 'with --version: the new id of a step; repeatable', collect)
        .option('--resume', 'resume the run')
        .option('--dry-run', 'only preview the changes'),
    ),
  run: async (call: Call<ModifyOptions>, workflowId: string) => {
    const { cancel, data, dryRun, reason, resume, start, stepMap, version } = call.options;
    const request: Partial<ModificationRequest> = {
      ...(await bodyOf(call.options)),
      reason,
      ...(cancel !== undefined && { cancel: cancel.map(readExecution) }),
      ...(data !== undefined && { data: await readObject(data, '--data') }),
      ...(version !== undefined && { version }),
      ...(stepMap !== undefined && { stepMap: Object.fromEntries(stepMap.map(readMapping)) }),
      ...(start !== undefined && { start: start.map((stepId) => ({ stepId })) }),
      ...(resume !== undefined && { resume }),
      ...(dryRun !== undefined && { dryRun }),
    };
    await repair(call, workflowId, 'modify', request);
  },
});

export const restart = serverCommand({
  description: 'start a new run with the same input, reference and tags',
  declare: (command) => withCommonOptions(command),
  run: async ({ connect, options, output }: Call<RepairOptions>, workflowId: string) => {
    const { idempotencyKey, reason, version } = options;
    const request: RestartRequest = {
      ...(await bodyOf(options)),
      reason,
      ...(version !== undefined && { version }),
    };
    const client = await connect();
    const run = await client.send<ControlledWorkflow>(
      'POST',
      pathTo`/api/workflow/${workflowId}/restart`,
      { body: jsonContent(request), idempotencyKey },
    );
    output.result(run, () => {
      output.line(run.workflowId);
      output.note(plain(`Started ${run.definitionId}, version ${run.version}, again.`));
    });
  },
});

/** Adds the common options before and after the repair's own ones. */
function withCommonOptions(
  command: Command,
  withOwn: (command: Command) => Command = (own) => own,
): Command {
  const begun = command
    .argument('<run>', 'the id of a run')
    .requiredOption('--reason <text>', 'the reason, for the record of actions')
    .option('--version <number>', 'the version of the definition', readVersion);
  return withOwn(begun)
    .option(
      '--body <json>',
      'the request body as JSON or @file; other options override its members',
    )
    .option('--idempotency-key <key>', 'repeated calls with the same key have no further effect');
}

async function repair(
  { connect, options, output }: Call<RepairOptions>,
  workflowId: string,
  how: 'modify' | 'rerun',
  request: Partial<ModificationRequest>,
): Promise<void> {
  const client = await connect();
  const path = `${pathTo`/api/workflow/${workflowId}`}/${how}`;
  const repaired = await client.send<RepairedWorkflow>('POST', path, {
    body: jsonContent(request),
    idempotencyKey: options.idempotencyKey,
  });
  output.result(repaired, () => print(output, repaired, request.dryRun === true));
}

function print(
  output: Output,
  { cancelled, repeats, started, warnings, workflow }: RepairedWorkflow,
  isDryRun: boolean,
): void {
  if (isDryRun) output.line(output.paint('bold', 'Nothing was changed. The call would do this:'));
  const executions = (list: RepairedWorkflow['cancelled']): string =>
    list.map(({ executionId, stepId }) => `${stepId} (#${executionId})`).join(', ');
  output.pairs([
    ['Run', workflow.workflowId],
    ['Status', statusOf(workflow)],
    ['Canceled', executions(cancelled)],
    ['Started', executions(started)],
    ['Repeats', repeats.map(({ stepId, stepType }) => `${stepId} (${stepType})`).join(', ')],
  ]);
  for (const { message } of warnings) {
    output.line(`${output.paint('yellow', 'warning:')} ${plain(message)}`);
  }
}

/** `--body` has the members of the API; the server checks them. */
async function bodyOf({ body }: RepairOptions): Promise<JsonObject> {
  return body === undefined ? {} : readObject([body], '--body');
}

function readExecution(text: string): number | '*' {
  if (text === '*') return text;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw misused(`--cancel must be the number of an execution, or '*' for all, not ${text}`);
}

function readMapping(text: string): [string, string] {
  const [, from, to] = /^([^=]+)=([^=]+)$/.exec(text) ?? [];
  if (from === undefined || to === undefined) {
    throw misused(`--step-map must be <old step>=<new step>, not ${text}`);
  }
  return [from, to];
}
