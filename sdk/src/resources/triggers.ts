/** Triggers: what starts runs of a definition by time or by event. */
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

/** A period. Dates, or ISO 8601 texts. */
export interface BackfillPeriod {
  /** The first time that counts. */
  readonly from: Date | string;
  /** The first time that does not count. */
  readonly to: Date | string;
}

/** Which part of the schedule to show. */
export interface ScheduleOptions extends CallOptions {
  /** The length of the period, at most 168; 24 by default. */
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
   * Returns the triggers of the newest version of a definition, in its order, each with its next five times and its last outcome.
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
   * Returns the cron triggers of all definitions that fire in the next hours, each with its times; without those that are paused
   * or whose definition is disabled.
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
   * Pauses a trigger. What passes meanwhile starts no runs, also not later.
   *
   * @throws ApiError `definition_not_found`, `trigger_not_found`
   */
  pause(definitionId: string, name: string, options: CallOptions = {}): Promise<Trigger> {
    const call = triggerOf(definitionId, name);
    return this.#transport.call('put', '/api/definition/{id}/triggers/{name}/pause', call, options);
  }

  /** Resumes a trigger, from now on. @throws ApiError `definition_not_found`, `trigger_not_found` */
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
   * Starts a run of a trigger now, also if it is paused and while other runs of it are open. A request without a response is not
   * repeated: it could start a second run. The `OnConflict` of the definition holds: if it joins another run, `joined` is true.
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
   * Starts runs for the due times of a cron trigger in a period, at most 1,000, by its `overlap`. A due time that has started a run
   * before starts no other.
   *
   * @returns the due times, ISO 8601
   * @throws ApiError `invalid_request` if there are more, or if the trigger is no cron trigger; `trigger_not_found`
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

/** The server reads texts, and says which time does not exist. */
function timeText(time: Date | string): string {
  return typeof time === 'string' ? time : time.toISOString();
}
