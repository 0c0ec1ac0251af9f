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
import type { Json } from '../../engine/values/json.js';
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
import { actorOf, type ApiServices } from '../http/request-context.js';

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
   * Publishes an event to every workflow that waits for its name and key, and to those that will. It is stored before
   * the answer is sent. The body is the event's data: any JSON value.
   *
   * @summary Publish an event
   * @param name The name of the event
   * @param key The key that the waiting step names
   * @param workflowId For the sake of which workflow it is published: noted in what was done to that workflow
   * @param idempotencyKey A text of your own: the same key with the same event answers as the first time, and publishes nothing.
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
    // The body reader makes JSON values only.
    const eventData = data as Json;
    const forWorkflow = workflowId !== undefined && {
      workflowId: checkedName(workflowId, 'workflow id'),
      actor: await actorOf(request),
    };
    return this.#services.host.events.publish({
      ...checkedEventName(name, key),
      data: eventData,
      idempotency: await toIdempotencyKey(request, idempotencyKey, eventData),
      ...(forWorkflow !== false && { forWorkflow }),
    });
  }

  /**
   * Published events, newest first, one page of them: all, or those of one name and key.
   *
   * @summary List events
   * @param name The name of the events; together with `key`
   * @param key The key of the events; together with `name`
   * @param limit How many on a page
   * @isInt limit must be a whole number
   * @minimum limit 1 must be at least 1
   * @maximum limit 500 must be at most 500
   * @param cursor `nextCursor` of the page before
   */
  @Get()
  @Response<Problem>(400, 'A parameter is invalid')
  @Security('bearer', ['conductor:viewer'])
  async listEvents(
    @Query() name?: string,
    @Query() key?: string,
    @Query() limit: number = PAGE_SIZE_DEFAULT,
    @Query() cursor?: string,
  ): Promise<EventPage> {
    const of = toEventFilter(name, key);
    const page = toPageRequest(limit, cursor);
    return toWirePage(await this.#services.host.events.list(of, page), toEventSummary);
  }

  /**
   * An event with all of its data, as long as it is kept.
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
   * The workflows that wait for an event of this name and key, one page of them.
   *
   * @summary List who waits for an event
   * @param name The name of the event
   * @param key The key that the waiting steps name
   * @param limit How many on a page
   * @isInt limit must be a whole number
   * @minimum limit 1 must be at least 1
   * @maximum limit 500 must be at most 500
   * @param cursor `nextCursor` of the page before
   */
  @Get('{name}/{key}/waiting')
  @Response<Problem>(400, 'A parameter is invalid')
  @Security('bearer', ['conductor:viewer'])
  async listEventWaiters(
    @Path() name: string,
    @Path() key: string,
    @Query() limit: number = PAGE_SIZE_DEFAULT,
    @Query() cursor?: string,
  ): Promise<EventWaiterPage> {
    const of = checkedEventName(name, key);
    const page = toPageRequest(limit, cursor);
    return toWirePage(await this.#services.host.events.listWaiters(of, page), toEventWaiter);
  }
}
