import {
  Body,
  Controller,
  Delete,
  Extension,
  Get,
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
import { requiredBody } from '../http/body-reader.js';
import { knownQuery } from '../http/query-names.js';
import { actorOf, type ApiServices } from '../http/request-context.js';
import { toApiKey, toApiKeyRequest } from '../wire/map/key.js';
import { checkedName } from '../wire/map/name.js';
import type { ApiKeyPage, ApiKeyRequest, CreatedApiKey } from '../wire/models/key.js';
import type { Problem } from '../wire/models/problem.js';

@Route('api/key')
@Tags('Keys')
@Middlewares(knownQuery)
export class KeyController extends Controller {
  readonly #services: ApiServices;

  constructor(services: ApiServices) {
    super();
    this.#services = services;
  }

  /**
   * Creates an API key: a bearer token that can be revoked at any time. The key is shown only in this response.
   *
   * @summary Create an API key
   */
  @Post()
  @SuccessResponse(201, 'Created')
  @Response<Problem>(400, 'The body is invalid')
  @Response<Problem>(409, 'Another key already has this name')
  @Response<Problem>(413, 'The body is too large')
  @Response<Problem>(415, 'The body is neither JSON nor YAML')
  @Security('bearer', ['conductor:admin'])
  @Middlewares(requiredBody)
  @Extension('x-request-schema', 'ApiKeyRequest')
  async createKey(
    @Body() body: ApiKeyRequest,
    @Request() request: HttpRequest,
  ): Promise<CreatedApiKey> {
    const { keys } = this.#services.host;
    const created = await keys.create(toApiKeyRequest(body, await actorOf(request)));
    this.setStatus(201);
    return { ...toApiKey(created), key: created.key };
  }

  /**
   * Lists all API keys with the time of their last use, but not the keys themselves.
   *
   * @summary List API keys
   */
  @Get()
  @Security('bearer', ['conductor:admin'])
  async listKeys(): Promise<ApiKeyPage> {
    const items = await this.#services.host.keys.list();
    return { items: items.map(toApiKey), nextCursor: null };
  }

  /**
   * Removes an API key. All nodes stop accepting it within a second.
   *
   * @summary Remove an API key
   * @param id The id of the key
   */
  @Delete('{id}')
  @SuccessResponse(204, 'Removed')
  @Response<Problem>(404, 'There is no such key')
  @Security('bearer', ['conductor:admin'])
  async removeKey(@Path() id: string, @Request() request: HttpRequest): Promise<void> {
    await this.#services.host.keys.remove(checkedName(id, 'key id'), await actorOf(request));
  }
}
