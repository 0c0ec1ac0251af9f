/** `stepwright run`: starts a run and optionally waits for its end. */
import type {
  ConflictScope,
  ControlledWorkflow,
  OnConflict,
} from '../../api/wire/models/workflow.js';
import { readObject } from '../arguments/data.js';
import { connect } from '../connection/connect.js';
import type { ServerCommandOptions } from '../connection/options.js';
import { jsonContent, pathTo } from '../connection/server-client.js';
import { EXIT_CODES, type ExitCode } from '../exit-codes.js';
import { misused } from '../failure.js';
import { Output } from '../output/output.js';
import { plain } from '../output/plain-text.js';
import { exitCodeOf, printSettled, untilSettled } from './follow.js';

export interface RunOptions extends ServerCommandOptions {
  readonly data?: readonly string[];
  readonly reference?: string;
  readonly tag?: readonly string[];
  readonly version?: number;
  readonly delay?: number;
  readonly onConflict?: OnConflict;
  readonly conflictScope?: ConflictScope;
  readonly idempotencyKey?: string;
  readonly wait: boolean;
  readonly follow: boolean;
  readonly timeout?: number;
}

export async function run(definitionId: string, options: RunOptions): Promise<ExitCode> {
  const { conflictScope, delay, follow, json, onConflict, reference } = options;
  const { tag, version, wait } = options;
  const data = await readObject(options.data ?? [], '--data');
  const client = await connect(options);
  const { status, value: started } = await client.sendForStatus<ControlledWorkflow>(
    'POST',
    pathTo`/api/workflow/${definitionId}`,
    {
      query: {
        onConflict,
        conflictScope,
        reference,
        version,
        tag: tag?.map(tagParameter),
        delay: delay === undefined ? undefined : delay / 1000,
      },
      body: jsonContent(data),
      idempotencyKey: options.idempotencyKey,
    },
  );
  const output = new Output();
  const { workflowId } = started;
  const named = `${started.definitionId}, version ${started.version}`;
  if (!wait && !follow) {
    if (json) output.json(started);
    else {
      output.line(workflowId);
      const what = isJoined(status) ? joinedRun(started) : plain(`Started ${named}.`);
      output.note(`${what} Show its progress: stepwright show ${workflowId}`);
    }
    return EXIT_CODES.done;
  }
  if (!json) {
    output.note(isJoined(status) ? joinedRun(started) : plain(`${workflowId}  started ${named}`));
  }
  const settled = await untilSettled(client, workflowId, output, options);
  printSettled(output, settled, options);
  return exitCodeOf(settled);
}

/** Whether a start returned an existing run, which may have ended. */
export function isJoined(status: number): boolean {
  return status === 200;
}

/** The human-readable output. */
export function joinedRun(run: ControlledWorkflow): string {
  const { definitionId, reference, status, workflowId } = run;
  return plain(
    `Joined run ${workflowId} (${status}) of ${definitionId}, which has the reference ${reference ?? ''}.`,
  );
}

/** `team=billing`, which the API writes with a colon. */
function tagParameter(text: string): string {
  const [, name, value] = /^([^=:]+)[=:](.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined) {
    throw misused(`--tag must be <name>=<value>, not ${text}`);
  }
  return `${name}:${value}`;
}
