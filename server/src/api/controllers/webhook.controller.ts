import {
  Body,
  Controller,
  Delete,
  Extension,
  Get,
  Middlewares,
  Path,
  Put,
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
import { checkedWebhookName, toWebhook, toWebhookRequest } from '../wire/map/webhook.js';
import type { Problem } from '../wire/models/problem.js';
import type { Webhook, WebhookPage, WebhookRequest } from '../wire/models/webhook.js';

@Route('api/webhook')
@Tags('Webhooks')
@Middlewares(knownQuery)
export class WebhookController extends Controller {
  readonly #services: ApiServices;

  constructor(services: ApiServices) {
    super();
    this.#services = services;
  }

  /**
   * Creates or replaces a webhook, which defines what a signed call to `POST /hooks/{name}` does.
   *
   * @summary Set up a webhook
   * @param name The name of the webhook
   */
  @Put('{name}')
  @Response<Problem>(400, 'The name or the body is invalid')
  @Response<Problem>(413, 'The body is too large')
  @Response<Problem>(415, 'The body is neither JSON nor YAML')
  @Security('bearer', ['conductor:author'])
  @Middlewares(requiredBody)
  @Extension('x-request-schema', 'WebhookRequest')
  async putWebhook(
    @Path() name: string,
    @Body() body: WebhookRequest,
    @Request() request: HttpRequest,
  ): Promise<Webhook> {
    const checked = checkedWebhookName(name);
    const settings = toWebhookRequest(body, await actorOf(request));
    return toWebhook(await this.#services.host.webhooks.put(checked, settings));
  }

  /**
   * Returns a webhook without its secret.
   *
   * @summary Get a webhook
   * @param name The name of the webhook
   */
  @Get('{name}')
  @Response<Problem>(404, 'There is no such webhook')
  @Security('bearer', ['conductor:author'])
  async getWebhook(@Path() name: string): Promise<Webhook> {
    return toWebhook(await this.#services.host.webhooks.get(checkedWebhookName(name)));
  }

  /**
   * Lists all webhooks without their secrets.
   *
   * @summary List webhooks
   */
  @Get()
  @Security('bearer', ['conductor:author'])
  async listWebhooks(): Promise<WebhookPage> {
    const items = await this.#services.host.webhooks.list();
    return { items: items.map(toWebhook), nextCursor: null };
  }

  /**
   * Removes a webhook. From then on, its calls are rejected.
   *
   * @summary Remove a webhook
   * @param name The name of the webhook
   */
  @Delete('{name}')
  @SuccessResponse(204, 'Removed')
  @Response<Problem>(404, 'There is no such webhook')
  @Security('bearer', ['conductor:author'])
  async removeWebhook(@Path() name: string, @Request() request: HttpRequest): Promise<void> {
    await this.#services.host.webhooks.remove(checkedWebhookName(name), await actorOf(request));
  }
}
