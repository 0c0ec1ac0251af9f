import {
  Body,
  Controller,
  Extension,
  Get,
  Header,
  Middlewares,
  Path,
  Post,
  Query,
  Request,
  Response,
  Route,
  Security,
  SuccessResponse,
  Tags,
} from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import { AppError } from '../../base/errors.js';
import type { AllowedNames } from '../../base/allowed-names.js';
import type { Json } from '../../engine/values/json.js';
import type { EventName } from '../../runtime/events/event-types.js';
import { instanceNotFound } from '../../runtime/operations/instance-queries.js';
import { auditPublished } from '../access/audited-calls.js';
import { allowedNames } from '../access/authentication.js';
import { PAGE_SIZE_DEFAULT } from '../http/api-limits.js';
import { requiredBody } from '../http/body-reader.js';
import {
  checkedEventName,
  toEventFilter,
  toEventSummary,
  toEventWaiter,
  toStoredEvent,
} from '../wire/map/event.js';
import { toIdempotencyKey } from '../wire/map/idempotency.js';
import { checkedName } from '../wire/map/name.js';
import { toPageRequest, toWirePage } from '../wire/map/page.js';
import type {
  EventPage,
  EventWaiterPage,
  PublishedEvent,
  StoredEvent,
} from '../wire/models/event.js';
import type { Problem } from '../wire/models/problem.js';
import { knownQuery } from '../http/query-names.js';
import { actorOf, traceOf, type ApiServices } from '../http/request-context.js';

/** Each one costs a store read. */
const RUNS_CHECKED_MAX = 500;

@Route('api/event')
@Tags('Events')
@Middlewares(knownQuery)
export class EventController extends Controller {
  readonly #services: ApiServices;

  constructor(services: ApiServices) {
    super();
    this.#services = services;
  }

  /**
   * Publishes an event to every run that is waiting for its name and key, or will wait for it. The server stores the
   * event before it responds. The body is the data of the event: any JSON value.
   *
   * A caller with a narrowed scope may publish the events whose names appear literally in the definitions that the scope covers.
   * Such an event starts runs of these definitions only; the triggers of other definitions show `Skipped`.
   *
   * @summary Publish an event
   * @param name The name of the event
   * @param key The key that the waiting step names
   * @param workflowId The run for which an operator publishes the event. It is recorded among the actions on that run.
   * @param idempotencyKey A unique key of your choice. If you repeat the request with the same key, you get the first response, and no further event is published.
   */
  @Post('{name}/{key}')
  @SuccessResponse(202, 'Stored')
  @Response<Problem>(400, 'The body cannot be read')
  @Response<Problem>(404, 'There is no such run')
  @Response<Problem>(409, 'The idempotency key was already used with a different event')
  @Response<Problem>(413, 'The body is too large')
  @Response<Problem>(415, 'The body is neither JSON nor YAML')
  @Security('bearer', ['conductor:controller'])
  @Middlewares(requiredBody)
  @Extension('x-request-schema', 'JsonValue')
  async publishEvent(
    @Path() name: string,
    @Path() key: string,
    @Body() data: unknown,
    @Request() request: HttpRequest,
    @Query() workflowId?: string,
    @Header('Idempotency-Key') idempotencyKey?: string,
  ): Promise<PublishedEvent> {
    // The body reader returns only JSON values.
    const eventData = data as Json;
    const event = checkedEventName(name, key);
    const allowed = await allowedNames(request, 'conductor:controller');
    await this.#assertMayPublish(event, allowed, workflowId);
    const forInstance = workflowId !== undefined && {
      instanceId: checkedName(workflowId, 'workflow id'),
      actor: await actorOf(request),
    };
    const published = await this.#services.host.events.publish({
      ...event,
      data: eventData,
      idempotency: await toIdempotencyKey(request, idempotencyKey, eventData),
      allowed,
      ...(forInstance !== false && { forInstance }),
      ...traceOf(request),
    });
    if (forInstance !== false) await auditPublished(request, forInstance.instanceId, event.name);
    return published;
  }

  /**
   * Lists published events in pages, the newest first: all events, or those with one name and key.
   *
   * @summary List events
   * @param name The name of the events; requires `key`
   * @param key The key of the events; requires `name`
   * @param limit The maximum number of items on a page
   * @isInt limit must be a whole number
   * @minimum limit 1 must be at least 1
   * @maximum limit 500 must be at most 500
   * @param cursor `nextCursor` of the previous page
   */
  @Get()
  @Response<Problem>(400, 'A parameter is invalid')
  @Security('bearer', ['conductor:viewer'])
  async listEvents(
    @Request() request: HttpRequest,
    @Query() name?: string,
    @Query() key?: string,
    @Query() limit: number = PAGE_SIZE_DEFAULT,
    @Query() cursor?: string,
  ): Promise<EventPage> {
    const of = toEventFilter(name, key);
    const page = toPageRequest(limit, cursor);
    const events = await this.#services.host.events.list(of, page);
    const seen = await this.#seen(
      request,
      events.items.flatMap(({ takenBy }) => takenBy),
    );
    return toWirePage(events, (event) =>
      toEventSummary({ ...event, takenBy: event.takenBy.filter((id) => seen.has(id)) }),
    );
  }

  /**
   * Returns an event with all of its data. Events are available until their retention period ends.
   *
   * @summary Get an event
   * @param id The id of the event
   */
  @Get('{id}')
  @Response<Problem>(404, 'There is no such event')
  @Security('bearer', ['conductor:viewer'])
  async getEvent(@Path() id: string): Promise<StoredEvent> {
    return toStoredEvent(await this.#services.host.events.get(checkedName(id, 'event id')));
  }

  /**
   * Lists the runs that are waiting for an event with this name and key, in pages.
   *
   * @summary List the runs waiting for an event
   * @param name The name of the event
   * @param key The key that the waiting steps name
   * @param limit The maximum number of items on a page
   * @isInt limit must be a whole number
   * @minimum limit 1 must be at least 1
   * @maximum limit 500 must be at most 500
   * @param cursor `nextCursor` of the previous page
   */
  @Get('{name}/{key}/waiting')
  @Response<Problem>(400, 'A parameter is invalid')
  @Security('bearer', ['conductor:viewer'])
  async listEventWaiters(
    @Path() name: string,
    @Path() key: string,
    @Request() request: HttpRequest,
    @Query() limit: number = PAGE_SIZE_DEFAULT,
    @Query() cursor?: string,
  ): Promise<EventWaiterPage> {
    const of = checkedEventName(name, key);
    const page = toPageRequest(limit, cursor);
    const found = await this.#services.host.events.listWaiters(of, page);
    const seen = await this.#seen(
      request,
      found.items.map(({ workflowId }) => workflowId),
    );
    const items = found.items.filter(({ workflowId }) => seen.has(workflowId));
    return toWirePage({ ...found, items }, toEventWaiter);
  }

  async #assertMayPublish(
    event: EventName,
    allowed: AllowedNames,
    workflowId: string | undefined,
  ): Promise<void> {
    const { events, instances } = this.#services.host;
    if (allowed === 'all') return;
    if (
      workflowId !== undefined &&
      !(await instances.within([workflowId], allowed)).has(workflowId)
    ) {
      throw instanceNotFound(workflowId);
    }
    if (await events.canTake(event, allowed)) return;
    throw new AppError(
      'forbidden',
      `No definition that the token reaches names the event '${event.name}'. Names that expressions compute do not count`,
    );
  }

  /** The runs that the caller may see; with a narrowed scope, only the first runs are checked. */
  async #seen(request: HttpRequest, ids: readonly string[]): Promise<ReadonlySet<string>> {
    const allowed = await allowedNames(request, 'conductor:viewer');
    if (allowed === 'all') return new Set(ids);
    return this.#services.host.instances.within(ids.slice(0, RUNS_CHECKED_MAX), allowed);
  }
}
