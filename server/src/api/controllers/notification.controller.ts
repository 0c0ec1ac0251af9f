import {
  Body,
  Controller,
  Delete,
  Extension,
  Get,
  Middlewares,
  Path,
  Post,
  Put,
  Query,
  Request,
  Response,
  Route,
  Security,
  SuccessResponse,
  Tags,
} from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import { requiredBody } from '../http/body-reader.js';
import { knownQuery } from '../http/query-names.js';
import { actorOf, type ApiServices } from '../http/request-context.js';
import { checkedName } from '../wire/map/name.js';
import {
  checkedNotificationName,
  toDelivery,
  toNotification,
  toNotificationRequest,
} from '../wire/map/notification.js';
import { toPageRequest, toWirePage } from '../wire/map/page.js';
import type {
  Delivery,
  DeliveryPage,
  DeliveryState,
  Notification,
  NotificationPage,
  NotificationRequest,
} from '../wire/models/notification.js';
import type { Problem } from '../wire/models/problem.js';

@Route('api/notification')
@Tags('Notifications')
@Middlewares(knownQuery)
export class NotificationController extends Controller {
  readonly #services: ApiServices;

  constructor(services: ApiServices) {
    super();
    this.#services = services;
  }

  /**
   * Creates or replaces a notification, which reports selected run changes to a target. Messages follow Standard Webhooks and are
   * retried for three days until the target responds with a 2xx status. If the notification was paused, it resumes.
   *
   * @summary Set up a notification
   * @param name The name of the notification
   */
  @Put('{name}')
  @Response<Problem>(400, 'The name or the body is invalid')
  @Response<Problem>(413, 'The body is too large')
  @Response<Problem>(415, 'The body is neither JSON nor YAML')
  @Security('bearer', ['conductor:author'])
  @Middlewares(requiredBody)
  @Extension('x-request-schema', 'NotificationRequest')
  async putNotification(
    @Path() name: string,
    @Body() body: NotificationRequest,
    @Request() request: HttpRequest,
  ): Promise<Notification> {
    const settings = toNotificationRequest(body, await actorOf(request));
    const { notifications } = this.#services.host;
    return toNotification(await notifications.put(checkedNotificationName(name), settings));
  }

  /**
   * Returns a notification without its secret.
   *
   * @summary Get a notification
   * @param name The name of the notification
   */
  @Get('{name}')
  @Response<Problem>(404, 'There is no such notification')
  @Security('bearer', ['conductor:author'])
  async getNotification(@Path() name: string): Promise<Notification> {
    const { notifications } = this.#services.host;
    return toNotification(await notifications.get(checkedNotificationName(name)));
  }

  /**
   * Lists all notifications without their secrets.
   *
   * @summary List notifications
   */
  @Get()
  @Security('bearer', ['conductor:author'])
  async listNotifications(): Promise<NotificationPage> {
    const items = await this.#services.host.notifications.list();
    return { items: items.map(toNotification), nextCursor: null };
  }

  /**
   * Removes a notification and its deliveries. Attempts in progress still finish; nothing else is sent.
   *
   * @summary Remove a notification
   * @param name The name of the notification
   */
  @Delete('{name}')
  @SuccessResponse(204, 'Removed')
  @Response<Problem>(404, 'There is no such notification')
  @Security('bearer', ['conductor:author'])
  async removeNotification(@Path() name: string, @Request() request: HttpRequest): Promise<void> {
    const { notifications } = this.#services.host;
    await notifications.remove(checkedNotificationName(name), await actorOf(request));
  }

  /**
   * Pauses a notification. Until it is resumed, nothing is sent and changes aren't recorded.
   *
   * @summary Pause a notification
   * @param name The name of the notification
   */
  @Put('{name}/pause')
  @Response<Problem>(404, 'There is no such notification')
  @Security('bearer', ['conductor:author'])
  async pauseNotification(
    @Path() name: string,
    @Request() request: HttpRequest,
  ): Promise<Notification> {
    const { notifications } = this.#services.host;
    const actor = await actorOf(request);
    return toNotification(await notifications.pause(checkedNotificationName(name), actor));
  }

  /**
   * Resumes a paused notification. Waiting deliveries are tried again.
   *
   * @summary Resume a notification
   * @param name The name of the notification
   */
  @Put('{name}/resume')
  @Response<Problem>(404, 'There is no such notification')
  @Security('bearer', ['conductor:author'])
  async resumeNotification(@Path() name: string): Promise<Notification> {
    const { notifications } = this.#services.host;
    return toNotification(await notifications.resume(checkedNotificationName(name)));
  }

  /**
   * Sends one message of type `workflow.test` to the target, even if the notification is paused, and returns the result.
   *
   * @summary Send a test message
   * @param name The name of the notification
   */
  @Post('{name}/test')
  @Response<Problem>(404, 'There is no such notification')
  @Security('bearer', ['conductor:author'])
  async testNotification(@Path() name: string, @Request() request: HttpRequest): Promise<Delivery> {
    const { notifications } = this.#services.host;
    const actor = await actorOf(request);
    return toDelivery(await notifications.test(checkedNotificationName(name), actor));
  }

  /**
   * Lists the deliveries of a notification, the newest first, in pages. They are removed a week after they end.
   *
   * @summary List deliveries
   * @param name The name of the notification
   * @param state Only deliveries in this state
   * @param limit The maximum number of items on a page
   * @isInt limit must be a whole number
   * @minimum limit 1 must be at least 1
   * @maximum limit 500 must be at most 500
   * @param cursor `nextCursor` of the previous page
   */
  @Get('{name}/deliveries')
  @Response<Problem>(400, 'A parameter is invalid')
  @Response<Problem>(404, 'There is no such notification')
  @Security('bearer', ['conductor:viewer'])
  async listDeliveries(
    @Path() name: string,
    @Query() state?: DeliveryState,
    @Query() limit: number = 50,
    @Query() cursor?: string,
  ): Promise<DeliveryPage> {
    const { notifications } = this.#services.host;
    const checked = checkedNotificationName(name);
    const page = toPageRequest(limit, cursor);
    return toWirePage(await notifications.listDeliveries(checked, state ?? null, page), toDelivery);
  }

  /**
   * Retries a delivery in any state, with the same id and body. If it fails, it is retried for another three days.
   *
   * @summary Redeliver
   * @param name The name of the notification
   * @param id The id of the delivery
   */
  @Post('{name}/deliveries/{id}/redeliver')
  @SuccessResponse(202, 'Accepted')
  @Response<Problem>(404, 'There is no such notification or delivery')
  @Security('bearer', ['conductor:author'])
  async redeliver(@Path() name: string, @Path() id: string): Promise<Delivery> {
    const { notifications } = this.#services.host;
    const checked = checkedNotificationName(name);
    return toDelivery(await notifications.redeliver(checked, checkedName(id, 'delivery id')));
  }
}
