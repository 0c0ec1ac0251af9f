/** Triggers start runs of a definition by time or event. */
import type {
  ControlledWorkflow,
  DataObject,
  Schedule,
  StartedWorkflow,
  Trigger,
} from '../api-types.js';
import type { CallOptions } from '../options.js';
import type { Transport } from '../transport.js';
import { CREATED } from './workflow-calls.js';

/** A period, as dates or ISO 8601 strings. */
export interface BackfillPeriod {
  /** The start of the period, inclusive. */
  readonly from: Date | string;
  /** The end of the period, exclusive. */
  readonly to: Date | string;
}

/** Which part of the schedule to show. */
export interface ScheduleOptions extends CallOptions {
  /** The length of the period in hours, at most 168; 24 by default. */
  readonly hours?: number;
  /** The maximum number of triggers, at most 500; 100 by default. */
  readonly limit?: number;
}

/** Shows and controls the triggers of definitions: `client.triggers`. */
export class TriggersResource {
  readonly #transport: Transport;

  /** @internal Created by `createClient`. */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Returns the triggers of a definition's latest version, in its order, each with its next five due times and its last outcome.
   *
   * @throws ApiError `definition_not_found`
   *
   * @example
   * ```ts
   * await client.definitions.register(`
   * id: report
   * triggers:
   *   - name: nightly
   *     cron: 0 2 * * *
   *     timeZone: Europe/Zurich
   * steps:
   *   - id: write
   *     stepType: EmitLog
   *     inputs:
   *       Message: '"report"'
   * `);
   * const [nightly] = await client.triggers.list('report');
   * console.log(nightly?.name, nightly?.nextTimes.length); // nightly 5
   * ```
   */
  async list(definitionId: string, options: CallOptions = {}): Promise<readonly Trigger[]> {
    return this.#transport.call(
      'get',
      '/api/definition/{id}/triggers',
      { path: { id: definitionId }, repeatable: 'always', subject: { definitionId } },
      options,
    );
  }

  /**
   * Returns the cron triggers of all definitions that fire in the next hours, each with its due times. Paused triggers and
   * triggers of disabled definitions are omitted.
   *
   * @example
   * ```ts
   * await client.definitions.register({
   *   id: 'sweep',
   *   triggers: [{ name: 'hourly', cron: '@hourly' }],
   *   steps: [{ id: 'end', stepType: 'NoOp' }],
   * });
   * const { items } = await client.triggers.schedule({ hours: 12 });
   * const sweep = items.find(({ definitionId }) => definitionId === 'sweep');
   * console.log(sweep?.cron, sweep?.times.length); // @hourly 12
   * ```
   */
  schedule({ hours, limit, ...options }: ScheduleOptions = {}): Promise<Schedule> {
    const call = { query: { hours, limit }, repeatable: 'always', subject: {} } as const;
    return this.#transport.call('get', '/api/schedule', call, options);
  }

  /**
   * Pauses a trigger. Due times and events that occur while it is paused never start runs.
   *
   * @throws ApiError `definition_not_found`, `trigger_not_found`
   */
  pause(definitionId: string, name: string, options: CallOptions = {}): Promise<Trigger> {
    const call = triggerOf(definitionId, name);
    return this.#transport.call('put', '/api/definition/{id}/triggers/{name}/pause', call, options);
  }

  /** Resumes a paused trigger. @throws ApiError `definition_not_found`, `trigger_not_found` */
  resume(definitionId: string, name: string, options: CallOptions = {}): Promise<Trigger> {
    const call = triggerOf(definitionId, name);
    return this.#transport.call(
      'put',
      '/api/definition/{id}/triggers/{name}/resume',
      call,
      options,
    );
  }

  /**
   * Starts a run of a trigger now, even if the trigger is paused or other runs are open. A request without a response isn't
   * retried, because that could start a second run. The definition's `OnConflict` applies: if the call joins another run,
   * `joined` is true.
   *
   * @throws ApiError `definition_not_found`, `trigger_not_found`, `definition_disabled`, `invalid_data`, `reference_in_use`
   */
  async fire<TData extends object = DataObject>(
    definitionId: string,
    name: string,
    options: CallOptions = {},
  ): Promise<StartedWorkflow<TData>> {
    const { status, value } = await this.#transport.callWithStatus(
      'post',
      '/api/definition/{id}/triggers/{name}/fire',
      { ...triggerOf(definitionId, name), repeatable: 'refused' },
      options,
    );
    return { ...(value as ControlledWorkflow<TData>), joined: status !== CREATED };
  }

  /**
   * Starts runs for the due times of a cron trigger in a period, at most 1,000, according to its `overlap`. Due times that have
   * already started a run are skipped.
   *
   * @returns the due times, ISO 8601
   * @throws ApiError `invalid_request` if there are more, or if it isn't a cron trigger; `trigger_not_found`
   */
  async backfill(
    definitionId: string,
    name: string,
    { from, to }: BackfillPeriod,
    options: CallOptions = {},
  ): Promise<readonly string[]> {
    const json = { from: timeText(from), to: timeText(to) };
    const { times } = await this.#transport.call(
      'post',
      '/api/definition/{id}/triggers/{name}/backfill',
      { ...triggerOf(definitionId, name), body: { json } },
      options,
    );
    return times;
  }
}

function triggerOf(definitionId: string, name: string) {
  return {
    path: { id: definitionId, name },
    repeatable: 'always',
    subject: { definitionId },
  } as const;
}

/** The server parses strings, and reports times that don't exist. */
function timeText(time: Date | string): string {
  return typeof time === 'string' ? time : time.toISOString();
}
