/** `stepwright suspend`, `resume`, `retry` and `terminate`: one run, or several. `stepwright priority`: one run. */
import type { Command } from 'commander';
import type {
  CompensationPreview,
  ControlAnswer,
  ControlRequest,
} from '../../api/wire/models/control.js';
import type { ControlledWorkflow, Priority } from '../../api/wire/models/workflow.js';
import { readDuration, readPriority } from '../arguments/values.js';
import { jsonContent, pathTo, type ServerClient } from '../connection/server-client.js';
import { EXIT_CODES, type ExitCode } from '../exit-codes.js';
import { misused } from '../failure.js';
import type { Output } from '../output/output.js';
import { plain } from '../output/plain-text.js';
import { paintedStatus, styleOf } from '../output/runs.js';
import type { Column } from '../output/table.js';
import { serverCommand, type AddCommand, type Call } from './server-command.js';

interface ControlOptions {
  readonly compensate?: boolean;
  readonly grace?: number;
  readonly dryRun?: boolean;
  readonly reason?: string;
}

type Action = ControlRequest['action'];

const COLUMNS: readonly Column<ControlAnswer['results'][number]>[] = [
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
];

export const suspend = controlCommand('suspend', 'suspend runs until they are resumed');
export const resume = controlCommand('resume', 'resume suspended runs');
export const retry = controlCommand(
  'retry',
  'immediately retry steps that are waiting for their next attempt',
);
export const terminate = controlCommand('terminate', 'end runs', (command) =>
  command
    .option('--compensate', 'undo the completed steps first', false)
    .option(
      '--grace <duration>',
      'with --compensate: how long to wait for work in flight',
      readDuration,
    )
    .option('--dry-run', 'with --compensate: only show what would be undone')
    .option('--reason <text>', 'the reason, for the record of actions'),
);

export const priority = serverCommand({
  description: 'change the order in which the work of a run waits',
  declare: (command) =>
    command
      .argument('<run>', 'the id of a run')
      .argument('<priority>', 'from 1 (first) to 5 (last)', readPriority),
  run: async ({ connect, output }: Call, id: string, wanted: Priority) => {
    const client = await connect();
    const body = jsonContent({ priority: wanted });
    const path = pathTo`/api/workflow/${id}/priority`;
    const run = await client.send<ControlledWorkflow>('PUT', path, { body });
    output.result(run, () => output.line(`${plain(run.workflowId)}  priority ${run.priority}`));
  },
});

/** The exit code is 1 if a run was refused or is missing. */
function controlCommand(
  action: Action,
  description: string,
  withOptions: (command: Command) => Command = (command) => command,
): AddCommand {
  return serverCommand({
    description,
    declare: (command) => withOptions(command.argument('<runs...>', 'the ids of runs')),
    run: async ({ connect, options, output }: Call<ControlOptions>, ids: string[]) => {
      const client = await connect();
      const [only, ...others] = ids;
      const isOne = only !== undefined && others.length === 0;
      if (!isOne && (options.dryRun === true || options.grace !== undefined)) {
        throw misused('--grace and --dry-run are for one run');
      }
      if (!isOne) return controlAll(client, output, { action, workflowIds: ids, ...options });
      if (options.dryRun === true) await showPreview(client, output, only, options);
      else {
        const run = await controlOne(client, action, only, options);
        const status = paintedStatus(run, output.paint);
        output.result(run, () => output.line(`${plain(run.workflowId)}  ${status}`));
      }
      return EXIT_CODES.done;
    },
  });
}

async function controlAll(
  client: ServerClient,
  output: Output,
  { action, compensate, reason, workflowIds }: ControlRequest,
): Promise<ExitCode> {
  const body = {
    action,
    workflowIds,
    ...(compensate !== undefined && { compensate }),
    ...(reason !== undefined && { reason }),
  };
  const content = { body: jsonContent(body) };
  const answer = await client.send<ControlAnswer>('PATCH', '/api/workflow', content);
  output.result(answer, () => output.table(answer.results, COLUMNS));
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
  { compensate }: ControlOptions,
): Promise<void> {
  const query = { compensate, dryRun: true };
  const preview = await client.send<CompensationPreview>('DELETE', pathTo`/api/workflow/${id}`, {
    query,
  });
  const list = (title: string, executions: CompensationPreview['undo']): void => {
    const steps = executions.map(({ executionId, stepId }) => `${stepId} (#${executionId ?? '?'})`);
    output.line(`${title}: ${steps.length === 0 ? 'nothing' : plain(steps.join(', '))}`);
  };
  output.result(preview, () => {
    list('In flight, finishes first', preview.inFlight);
    list('Would be undone, in order', preview.undo);
  });
}
