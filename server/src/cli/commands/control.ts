/** `stepwright suspend`, `resume`, `retry` and `terminate`: one run, or several. */
import type {
  CompensationPreview,
  ControlAnswer,
  ControlRequest,
} from '../../api/wire/models/control.js';
import type { ControlledWorkflow } from '../../api/wire/models/workflow.js';
import { connect } from '../connection/connect.js';
import type { ServerCommandOptions } from '../connection/options.js';
import { jsonContent, pathTo, type ServerClient } from '../connection/server-client.js';
import { misused } from '../failure.js';
import { EXIT_CODES, type ExitCode } from '../exit-codes.js';
import { Output } from '../output/output.js';
import { plain } from '../output/plain-text.js';
import { statusOf, styleOf } from '../output/runs.js';

export interface ControlOptions extends ServerCommandOptions {
  readonly compensate?: boolean;
  readonly grace?: number;
  readonly dryRun?: boolean;
  readonly reason?: string;
}

type Action = ControlRequest['action'];

/** @returns 1 if a run was refused or is missing */
export async function control(
  action: Action,
  workflowIds: readonly string[],
  options: ControlOptions,
): Promise<ExitCode> {
  const client = await connect(options);
  const output = new Output();
  const [only, ...others] = workflowIds;
  if (options.dryRun === true || options.grace !== undefined) {
    if (only === undefined || others.length > 0)
      throw misused('--grace and --dry-run are for one run');
  }
  if (only !== undefined && options.dryRun === true) {
    await showPreview(client, output, only, options);
    return EXIT_CODES.done;
  }
  if (only !== undefined && others.length === 0) {
    const run = await controlOne(client, action, only, options);
    if (options.json) output.json(run);
    else output.line(`${plain(run.workflowId)}  ${painted(output, statusOf(run))}`);
    return EXIT_CODES.done;
  }
  const { compensate, reason } = options;
  const body = {
    action,
    workflowIds,
    ...(compensate !== undefined && { compensate }),
    ...(reason !== undefined && { reason }),
  };
  const content = { body: jsonContent(body) };
  const answer = await client.send<ControlAnswer>('PATCH', '/api/workflow', content);
  if (options.json) output.json(answer);
  else {
    output.table(answer.results, [
      { title: 'RUN', text: ({ workflowId }) => workflowId },
      {
        title: 'RESULT',
        text: ({ outcome }) => outcome,
        style: ({ outcome }) => (outcome === 'done' ? 'green' : 'red'),
      },
      {
        title: 'STATUS',
        text: ({ status }) => status ?? '',
        style: ({ status }) => styleOf(status ?? ''),
      },
    ]);
  }
  return answer.results.every(({ outcome }) => outcome === 'done')
    ? EXIT_CODES.done
    : EXIT_CODES.failed;
}

function controlOne(
  client: ServerClient,
  action: Action,
  id: string,
  { compensate, grace, reason }: ControlOptions,
): Promise<ControlledWorkflow> {
  if (action !== 'terminate') {
    return client.send('PUT', `${pathTo`/api/workflow/${id}`}/${action}`);
  }
  const seconds = grace === undefined ? undefined : grace / 1000;
  const query = { compensate, grace: seconds, reason };
  return client.send('DELETE', pathTo`/api/workflow/${id}`, { query });
}

async function showPreview(
  client: ServerClient,
  output: Output,
  id: string,
  { compensate, json }: ControlOptions,
): Promise<void> {
  const query = { compensate, dryRun: true };
  const preview = await client.send<CompensationPreview>('DELETE', pathTo`/api/workflow/${id}`, {
    query,
  });
  if (json) {
    output.json(preview);
    return;
  }
  const list = (title: string, executions: CompensationPreview['undo']): void => {
    const steps = executions.map(({ executionId, stepId }) => `${stepId} (#${executionId ?? '?'})`);
    output.line(`${title}: ${steps.length === 0 ? 'nothing' : plain(steps.join(', '))}`);
  };
  list('In flight, finishes first', preview.inFlight);
  list('Would be undone, in order', preview.undo);
}

function painted(output: Output, status: string): string {
  const style = styleOf(status);
  return style === null ? status : output.paint(style, status);
}
