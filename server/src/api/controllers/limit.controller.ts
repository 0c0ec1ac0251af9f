import {
  Body,
  Controller,
  Delete,
  Extension,
  Get,
  Middlewares,
  Path,
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
import { PAGE_SIZE_DEFAULT } from '../http/api-limits.js';
import { requiredBody } from '../http/body-reader.js';
import { knownQuery } from '../http/query-names.js';
import { actorOf, contextOf, type ApiServices } from '../http/request-context.js';
import { checkedLimitName, toLimit } from '../wire/map/limit.js';
import { toPageRequest, toWirePage } from '../wire/map/page.js';
import type { DataObject } from '../wire/models/json-value.js';
import type { Limit, LimitPage, LimitRequest } from '../wire/models/limit.js';
import type { Problem } from '../wire/models/problem.js';

@Route('api/limit')
@Tags('Limits')
@Middlewares(knownQuery)
export class LimitController extends Controller {
  readonly #services: ApiServices;

  constructor(services: ApiServices) {
    super();
    this.#services = services;
  }

  /**
   * Creates a limit, or replaces it as a whole. Steps name it in their member `Limits`. A change counts on all nodes within a
   * second: raising a limit lets waiting steps go, lowering it interrupts none.
   *
   * @summary Set up a limit
   * @param name The name of the limit
   */
  @Put('{name}')
  @SuccessResponse(200, 'Replaced')
  @Response<Limit>(201, 'Created')
  @Response<Problem>(400, 'The name or the body is invalid')
  @Response<Problem>(413, 'The body is too large')
  @Response<Problem>(415, 'The body is neither JSON nor YAML')
  @Security('bearer', ['conductor:author'])
  @Middlewares(requiredBody)
  @Extension('x-request-schema', 'LimitRequest')
  async putLimit(
    @Path() name: string,
    // Its own parser validates it; `LimitRequest` is for the OpenAPI document.
    @Body() document: DataObject | LimitRequest,
    @Request() request: HttpRequest,
  ): Promise<Limit> {
    const checked = checkedLimitName(name);
    const { body } = contextOf(request);
    const numbers = body === null ? {} : { writtenNumber: body.numbers() };
    const posted = { document, ...numbers, actor: await actorOf(request) };
    const { isNew, limit } = await this.#services.host.limits.put(checked, posted);
    this.setStatus(isNew ? 201 : 200);
    return toLimit(limit);
  }

  /**
   * Returns a limit with its use: what steps hold, and what they wait for.
   *
   * @summary Get a limit
   * @param name The name of the limit
   */
  @Get('{name}')
  @Response<Problem>(404, 'There is no such limit')
  @Security('bearer', ['conductor:author'])
  @Security('bearer', ['conductor:viewer'])
  async getLimit(@Path() name: string): Promise<Limit> {
    return toLimit(await this.#services.host.limits.get(checkedLimitName(name)));
  }

  /**
   * Lists limits with their use, ordered by name, in pages.
   *
   * @summary List limits
   * @param limit The maximum number of items on a page
   * @isInt limit must be a whole number
   * @minimum limit 1 must be at least 1
   * @maximum limit 500 must be at most 500
   * @param cursor `nextCursor` of the previous page
   */
  @Get()
  @Response<Problem>(400, 'A parameter is invalid')
  @Security('bearer', ['conductor:author'])
  @Security('bearer', ['conductor:viewer'])
  async listLimits(
    @Query() limit: number = PAGE_SIZE_DEFAULT,
    @Query() cursor?: string,
  ): Promise<LimitPage> {
    const page = await this.#services.host.limits.list(toPageRequest(limit, cursor));
    return toWirePage(page, toLimit);
  }

  /**
   * Removes a limit, unless the newest version of a definition names it.
   *
   * @summary Remove a limit
   * @param name The name of the limit
   */
  @Delete('{name}')
  @SuccessResponse(204, 'Removed')
  @Response<Problem>(404, 'There is no such limit')
  @Response<Problem>(409, 'Definitions use the limit: `definitionIds` lists up to 100 of them')
  @Security('bearer', ['conductor:author'])
  async removeLimit(@Path() name: string, @Request() request: HttpRequest): Promise<void> {
    await this.#services.host.limits.remove(checkedLimitName(name), await actorOf(request));
  }
}
