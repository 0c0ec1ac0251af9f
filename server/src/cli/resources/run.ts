/** `stepwright run`: starts a run and optionally waits for its end. */
import { Option } from 'commander';
import type { DebounceData } from '../../api/wire/models/debounce.js';
import type {
  ConflictScope,
  ControlledWorkflow,
  OnConflict,
  Priority,
} from '../../api/wire/models/workflow.js';
import { readObject } from '../arguments/data.js';
import {
  collect,
  readDuration,
  readFairnessWeight,
  readPriority,
  readVersion,
} from '../arguments/values.js';
import { jsonContent, pathTo, type Query } from '../connection/server-client.js';
import { EXIT_CODES } from '../exit-codes.js';
import { misused } from '../failure.js';
import { plain } from '../output/plain-text.js';
import { serverCommand, type Call } from './server-command.js';

const ON_CONFLICT: readonly OnConflict[] = ['allow', 'fail', 'existing', 'terminate', 'queue'];
const DEBOUNCE_DATA: readonly DebounceData[] = ['last', 'first', 'list'];
const CONFLICT_SCOPES: readonly ConflictScope[] = ['open', 'kept'];

interface RunOptions {
  readonly data?: readonly string[];
  readonly reference?: string;
  readonly tag?: readonly string[];
  readonly version?: number;
  readonly delay?: number;
  readonly debounce?: number;
  readonly debounceKey?: string;
  readonly debounceMax?: number;
  readonly debounceData?: DebounceData;
  readonly priority?: Priority;
  readonly fairnessKey?: string;
  readonly fairnessWeight?: number;
  readonly onConflict?: OnConflict;
  readonly conflictScope?: ConflictScope;
  readonly idempotencyKey?: string;
  readonly wait: boolean;
  readonly follow: boolean;
  readonly timeout?: number;
}

export const run = serverCommand({
  description: 'start a run',
  declare: (command) =>
    command
      .argument('<definition>', 'the id of a definition')
      .option('-d, --data <data>', 'JSON, @file, @- or name=value; repeatable', collect)
      .option('--reference <reference>', 'a name for finding the run')
      .option('--tag <name=value>', 'repeatable', collect)
      .option('--version <number>', 'the version of the definition', readVersion)
      .option('--delay <duration>', 'when the first step runs, such as 2h30m', readDuration)
      .option('--debounce <duration>', 'join starts that follow within this time', readDuration)
      .option('--debounce-key <key>', 'with --debounce: which starts belong together')
      .option('--debounce-max <duration>', 'with --debounce: the longest wait', readDuration)
      .addOption(
        new Option('--debounce-data <which>', 'with --debounce: whose data the run gets').choices(
          DEBOUNCE_DATA,
        ),
      )
      .option('--priority <number>', 'from 1 (first) to 5 (last): the order of work', readPriority)
      .option('--fairness-key <key>', 'whose work it is: keys take turns')
      .option('--fairness-weight <number>', 'the share of the key, 0.01 to 100', readFairnessWeight)
      .addOption(
        new Option('--on-conflict <action>', 'if another run has the same reference').choices(
          ON_CONFLICT,
        ),
      )
      .addOption(
        new Option(
          '--conflict-scope <scope>',
          'which other runs count: open runs, or all kept runs',
        ).choices(CONFLICT_SCOPES),
      )
      .option('--idempotency-key <key>', 'repeated calls with the same key start only one run')
      .option('--wait', 'wait for the end, print the data, and exit with its status code', false)
      .option('--follow', 'like --wait, and print the steps as they run', false)
      .option('--timeout <duration>', 'the maximum time to wait', readDuration),
  run: async (call: Call<RunOptions>, definitionId: string) => {
    const { options, output } = call;
    const data = await readObject(options.data ?? [], '--data');
    const client = await call.connect();
    const { status, value: started } = await client.sendForStatus<ControlledWorkflow>(
      'POST',
      pathTo`/api/workflow/${definitionId}`,
      {
        query: startQuery(options),
        body: jsonContent(data),
        idempotencyKey: options.idempotencyKey,
      },
    );
    const { workflowId } = started;
    const isNew = !isJoined(status);
    if (!options.wait && !options.follow) {
      output.result(started, () => {
        output.line(workflowId);
        const what = isNew ? startedRun(started) : joinedRun(started);
        output.note(`${what} Show its progress: stepwright show ${workflowId}`);
      });
      return EXIT_CODES.done;
    }
    output.extra(() =>
      output.note(isNew ? plain(`${workflowId}  ${startedText(started)}`) : joinedRun(started)),
    );
    const { followToEnd } = await import('./follow.js');
    return followToEnd(client, workflowId, output, options);
  },
});

function startQuery(options: RunOptions): Query {
  const { conflictScope, debounce, debounceMax, delay, fairnessKey, fairnessWeight } = options;
  const { debounceData, debounceKey, onConflict, priority, reference, tag, version } = options;
  return {
    priority,
    fairnessKey,
    fairnessWeight,
    onConflict,
    conflictScope,
    reference,
    version,
    tag: tag?.map(tagParameter),
    delay: delay === undefined ? undefined : delay / 1000,
    debounce: debounce === undefined ? undefined : debounce / 1000,
    debounceKey,
    debounceMax: debounceMax === undefined ? undefined : debounceMax / 1000,
    debounceData,
  };
}

/** Whether a start returned an existing run, which may have ended. */
export function isJoined(status: number): boolean {
  return status === 200;
}

function startedRun(run: ControlledWorkflow): string {
  const text = startedText(run);
  const until = run.debounce?.until ?? null;
  const collects = until === null ? '' : `: it begins at ${until}, unless other starts join it`;
  const consequence = run.queued ? ': it waits for other runs to end' : collects;
  return plain(`${text.slice(0, 1).toUpperCase()}${text.slice(1)}${consequence}.`);
}

function startedText({ definitionId, queued, version }: ControlledWorkflow): string {
  return `${queued ? 'queued' : 'started'} ${definitionId}, version ${version}`;
}

/** The human-readable output. */
export function joinedRun(run: ControlledWorkflow): string {
  const { debounce, definitionId, reference, status, workflowId } = run;
  const joined = `Joined run ${workflowId} (${status}) of ${definitionId}`;
  if (debounce != null && debounce.starts > 1) {
    const begins = debounce.until === null ? '' : `, which begins at ${debounce.until}`;
    return plain(`${joined}${begins}, with ${debounce.starts} starts.`);
  }
  return plain(`${joined}, which has the reference ${reference ?? ''}.`);
}

/** `team=billing`, which the API writes with a colon. */
function tagParameter(text: string): string {
  const [, name, value] = /^([^=:]+)[=:](.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined) {
    throw misused(`--tag must be <name>=<value>, not ${text}`);
  }
  return `${name}:${value}`;
}
