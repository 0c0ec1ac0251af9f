import {
  Body,
  Controller,
  Get,
  Middlewares,
  Path,
  Post,
  Produces,
  Query,
  Request,
  Response,
  Route,
  Security,
  SuccessResponse,
  Tags,
} from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import { sendText } from '../http/answer-format.js';
import { PAGE_SIZE_DEFAULT } from '../http/api-limits.js';
import { scriptBody } from '../http/body-reader.js';
import { checkedName, checkedPathName } from '../wire/map/name.js';
import { toPageRequest, toWirePage } from '../wire/map/page.js';
import { toStepSummary, toStoredStep } from '../wire/map/step.js';
import type { Problem } from '../wire/models/problem.js';
import type { StepPage, StoredStep } from '../wire/models/step.js';
import { knownQuery } from '../http/query-names.js';
import { actorOf, responseOf, type ApiServices } from '../http/request-context.js';

@Route('api/step')
@Tags('Custom steps')
@Middlewares(knownQuery)
export class CustomStepController extends Controller {
  readonly #services: ApiServices;

  constructor(services: ApiServices) {
    super();
    this.#services = services;
  }

  /**
   * Stores a Python script under a name that definitions can use as a step type. The inputs of a step are variables of
   * the script, and its outputs can use every variable that exists at the end of the script. Steps run the latest
   * script.
   *
   * @summary Store a custom step
   * @param id The name of the step
   * @param strict Whether to reject scripts with warnings
   * @example source "result = a + b\n"
   */
  @Post('{id}')
  @SuccessResponse(200, 'Stored')
  @Response<Problem>(
    400,
    'The script has a syntax error or, with strict, a warning; `line` and `column` give the position',
  )
  @Response<Problem>(409, 'The name belongs to a built-in step')
  @Response<Problem>(413, 'The script is too large')
  @Response<Problem>(415, 'The body is not text/x-python')
  @Security('bearer', ['conductor:author'])
  @Middlewares(scriptBody)
  async putStep(
    @Path() id: string,
    @Body() source: string,
    @Request() request: HttpRequest,
    @Query() strict: boolean = false,
  ): Promise<StoredStep> {
    const name = checkedPathName(id, 'step name');
    const { host } = this.#services;
    const actor = await actorOf(request);
    return toStoredStep(request, await host.customSteps.put(name, source, strict, actor));
  }

  /**
   * Lists the names of all custom steps, in pages.
   *
   * @summary List custom steps
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
  async listSteps(
    @Query() limit: number = PAGE_SIZE_DEFAULT,
    @Query() cursor?: string,
  ): Promise<StepPage> {
    const page = await this.#services.host.customSteps.list(toPageRequest(limit, cursor));
    return toWirePage(page, toStepSummary);
  }

  /**
   * Returns the script of a custom step.
   *
   * @summary Get a custom step
   * @param id The name of the step
   * @param version The version to return; by default, the latest
   * @isInt version must be a whole number
   * @minimum version 1 must be at least 1
   * @maximum version 2147483647 must be at most 2147483647
   */
  @Get('{id}')
  @Produces('text/x-python')
  @Response<Problem>(400, 'A parameter is invalid')
  @Response<Problem>(404, 'There is no such custom step or version')
  @Security('bearer', ['conductor:author'])
  @Security('bearer', ['conductor:viewer'])
  async getStep(
    @Path() id: string,
    @Request() request: HttpRequest,
    @Query() version?: number,
  ): Promise<string> {
    const name = checkedName(id, 'step name');
    const { source } = await this.#services.host.customSteps.get(name, version ?? 'latest');
    // Sent here because a controller's return value is formatted as JSON or YAML.
    sendText(responseOf(request), 'text/x-python; charset=utf-8', source);
    return source;
  }

  /**
   * Lists all versions of a custom step, the newest first, in pages.
   *
   * @summary List the versions of a custom step
   * @param id The name of the step
   * @param limit The maximum number of items on a page
   * @isInt limit must be a whole number
   * @minimum limit 1 must be at least 1
   * @maximum limit 500 must be at most 500
   * @param cursor `nextCursor` of the previous page
   */
  @Get('{id}/versions')
  @Response<Problem>(400, 'A parameter is invalid')
  @Response<Problem>(404, 'There is no such custom step')
  @Security('bearer', ['conductor:author'])
  @Security('bearer', ['conductor:viewer'])
  async listStepVersions(
    @Path() id: string,
    @Query() limit: number = PAGE_SIZE_DEFAULT,
    @Query() cursor?: string,
  ): Promise<StepPage> {
    const name = checkedName(id, 'step name');
    const page = toPageRequest(limit, cursor);
    return toWirePage(
      await this.#services.host.customSteps.listVersions(name, page),
      toStepSummary,
    );
  }
}
