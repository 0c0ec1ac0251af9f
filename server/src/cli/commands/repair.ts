/** `stepwright modify`, `rerun` and `restart`. */
import type { RestartRequest } from '../../api/wire/models/control.js';
import type {
  ModificationRequest,
  RepairedWorkflow,
  RerunRequest,
} from '../../api/wire/models/repair.js';
import type { ControlledWorkflow } from '../../api/wire/models/workflow.js';
import type { JsonObject } from '../../engine/values/json.js';
import { readObject } from '../arguments/data.js';
import { connect } from '../connection/connect.js';
import type { ServerCommandOptions } from '../connection/options.js';
import { jsonContent, pathTo } from '../connection/server-client.js';
import { misused } from '../failure.js';
import { Output } from '../output/output.js';
import { plain } from '../output/plain-text.js';
import { statusOf } from '../output/runs.js';

interface RepairOptions extends ServerCommandOptions {
  readonly reason: string;
  /** The whole body, as `explain` prints it; the other options override its members. */
  readonly body?: string;
  readonly version?: number;
  readonly idempotencyKey?: string;
}

export interface RerunOptions extends RepairOptions {
  readonly from?: string;
  readonly data?: readonly string[];
  readonly dryRun?: boolean;
}

export interface ModifyOptions extends RepairOptions {
  readonly data?: readonly string[];
  readonly cancel?: readonly string[];
  readonly start?: readonly string[];
  readonly stepMap?: readonly string[];
  readonly resume?: boolean;
  readonly dryRun?: boolean;
}

export async function rerun(workflowId: string, options: RerunOptions): Promise<void> {
  const { data, dryRun, from, reason, version } = options;
  const request: Partial<RerunRequest> = {
    ...(await bodyOf(options)),
    reason,
    ...(from !== undefined && { from }),
    ...(data !== undefined && { data: await readObject(data, '--data') }),
    ...(version !== undefined && { version }),
    ...(dryRun !== undefined && { dryRun }),
  };
  await repair(workflowId, 'rerun', request, options);
}

export async function modify(workflowId: string, options: ModifyOptions): Promise<void> {
  const { cancel, data, dryRun, reason, resume, start, stepMap, version } = options;
  const request: Partial<ModificationRequest> = {
    ...(await bodyOf(options)),
    reason,
    ...(cancel !== undefined && { cancel: cancel.map(readExecution) }),
    ...(data !== undefined && { data: await readObject(data, '--data') }),
    ...(version !== undefined && { version }),
    ...(stepMap !== undefined && { stepMap: Object.fromEntries(stepMap.map(readMapping)) }),
    ...(start !== undefined && { start: start.map((stepId) => ({ stepId })) }),
    ...(resume !== undefined && { resume }),
    ...(dryRun !== undefined && { dryRun }),
  };
  await repair(workflowId, 'modify', request, options);
}

export async function restart(workflowId: string, options: RepairOptions): Promise<void> {
  const { json, reason, version } = options;
  const request: RestartRequest = {
    ...(await bodyOf(options)),
    reason,
    ...(version !== undefined && { version }),
  };
  const client = await connect(options);
  const run = await client.send<ControlledWorkflow>(
    'POST',
    pathTo`/api/workflow/${workflowId}/restart`,
    { body: jsonContent(request), idempotencyKey: options.idempotencyKey },
  );
  const output = new Output();
  if (json) {
    output.json(run);
    return;
  }
  output.line(run.workflowId);
  output.note(plain(`Started ${run.definitionId}, version ${run.version}, again.`));
}

async function repair(
  workflowId: string,
  how: 'modify' | 'rerun',
  request: Partial<ModificationRequest>,
  options: RepairOptions,
): Promise<void> {
  const client = await connect(options);
  const path = `${pathTo`/api/workflow/${workflowId}`}/${how}`;
  const repaired = await client.send<RepairedWorkflow>('POST', path, {
    body: jsonContent(request),
    idempotencyKey: options.idempotencyKey,
  });
  const output = new Output();
  if (options.json) output.json(repaired);
  else print(output, repaired, request.dryRun === true);
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
    ['Cancelled', executions(cancelled)],
    ['Started', executions(started)],
    ['Repeats', repeats.map(({ stepId, stepType }) => `${stepId} (${stepType})`).join(', ')],
  ]);
  for (const { message } of warnings) {
    output.line(`${output.paint('yellow', 'warning:')} ${plain(message)}`);
  }
}

/** The members of `--body` are those of the API; the server checks them. */
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
