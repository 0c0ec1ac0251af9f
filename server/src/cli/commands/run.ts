/** `stepwright run`: starts a run, and waits for its end if that is wanted. */
import type { ConflictScope, OnConflict, StartedWorkflow } from '../../api/wire/models/workflow.js';
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
  const started = await client.send<StartedWorkflow>(
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
  if (!wait && !follow) {
    if (json) output.json(started);
    else {
      output.line(workflowId);
      const what = whatBecameOf(started);
      output.note(`${what} See how far it is: stepwright show ${workflowId}`);
    }
    return EXIT_CODES.done;
  }
  if (!json) {
    const what = plain(`${started.definitionId}, version ${started.version}`);
    output.note(started.joined === true ? whatBecameOf(started) : `${workflowId}  started ${what}`);
  }
  const settled = await untilSettled(client, workflowId, output, options);
  printSettled(output, settled, options);
  return exitCodeOf(settled);
}

/** For people: whether the start has started the run, or joined one that may have ended. */
export function whatBecameOf(run: StartedWorkflow): string {
  const { definitionId, joined, reference, status, version, workflowId } = run;
  if (joined !== true) return plain(`Started ${definitionId}, version ${version}.`);
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
