import {
  Body,
  Controller,
  Extension,
  Header,
  Middlewares,
  Path,
  Post,
  Request,
  Response,
  Route,
  Security,
  SuccessResponse,
  Tags,
} from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import type { Json } from '../engine/json.js';
import { requiredBody } from './body-reader.js';
import { toIdempotencyKey } from './map/idempotency.js';
import { checkedName, EVENT_KEY_LENGTH_MAX } from './map/name.js';
import type { PublishedEvent } from './models/event.js';
import type { Problem } from './models/problem.js';
import type { ApiServices } from './request-context.js';

@Route('api/event')
@Tags('Events')
export class EventController extends Controller {
  constructor(private readonly services: ApiServices) {
    super();
  }

  /**
   * Publishes an event to every workflow that waits for its name and key, and to those that will. It is stored before
   * the answer is sent. The body is the event's data: any JSON value.
   *
   * @summary Publish an event
   * @param name The name of the event
   * @param key The key that the waiting step names
   * @param idempotencyKey A text of your own: the same key with the same event answers as the first time, and publishes nothing.
   */
  @Post('{name}/{key}')
  @SuccessResponse(202, 'Stored')
  @Response<Problem>(400, 'The body cannot be read')
  @Response<Problem>(409, 'The idempotency key was used with another event')
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
    @Header('Idempotency-Key') idempotencyKey?: string,
  ): Promise<PublishedEvent> {
    // The body reader makes JSON values only.
    const eventData = data as Json;
    return this.services.host.publishEvent({
      name: checkedName(name, 'event name'),
      key: checkedName(key, 'event key', EVENT_KEY_LENGTH_MAX),
      data: eventData,
      idempotency: toIdempotencyKey(request, idempotencyKey, eventData),
    });
  }
}
