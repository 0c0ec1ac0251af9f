import {
  Body,
  Controller,
  Extension,
  Get,
  Header,
  Middlewares,
  Path,
  Post,
  Produces,
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
import { allowedNames } from '../access/authentication.js';
import type { Json } from '../../engine/values/json.js';
import { PAGE_SIZE_DEFAULT } from '../http/api-limits.js';
import { requiredBody } from '../http/body-reader.js';
import {
  toDefinitionCheck,
  toDefinitionDocument,
  toDefinitionSummary,
  toOrigin,
  toRegisteredDefinition,
} from '../wire/map/definition.js';
import { toIdempotencyKey } from '../wire/map/idempotency.js';
import { checkedName } from '../wire/map/name.js';
import { toPageRequest, toWirePage } from '../wire/map/page.js';
import type {
  DefinitionCheck,
  DefinitionDocument,
  DefinitionPage,
  OpenSteps,
  RegisteredDefinition,
} from '../wire/models/definition.js';
import type { Problem } from '../wire/models/problem.js';
import { knownQuery } from '../http/query-names.js';
import { actorOf, contextOf, responseOf, type ApiServices } from '../http/request-context.js';
import { sendText } from '../http/answer-format.js';

@Route('api/definition')
@Tags('Definitions')
@Middlewares(knownQuery)
export class DefinitionController extends Controller {
  readonly #services: ApiServices;

  constructor(services: ApiServices) {
    super();
    this.#services = services;
  }

  /**
   * Stores a definition as the next version of its id. Open runs keep their version; new runs use this one.
   *
   * If the definition is rejected, `errors` lists all problems, each with a JSON pointer and, where possible, line and
   * column.
   *
   * @summary Store a definition
   * @param idempotencyKey A unique key of your choice. If you repeat the request with the same key, you get the first response, and no further version is stored.
   * @param strict Whether to reject definitions with warnings
   * @param origin Where the definition comes from, such as a commit: at most 200 characters without control characters. It is
   * stored with the version and has no other effect.
   */
  @Post()
  @SuccessResponse(201, 'Stored')
  @Response<Problem>(400, 'The definition is invalid, or the body cannot be read')
  @Response<Problem>(409, 'The idempotency key was already used with a different definition')
  @Response<Problem>(413, 'The body is too large')
  @Response<Problem>(415, 'The body is neither JSON nor YAML')
  @Security('bearer', ['conductor:author'])
  @Middlewares(requiredBody)
  @Extension('x-request-schema', 'DefinitionDocument')
  async registerDefinition(
    @Body() document: unknown,
    @Request() request: HttpRequest,
    @Header('Idempotency-Key') idempotencyKey?: string,
    @Query() strict: boolean = false,
    @Query() origin?: string,
  ): Promise<RegisteredDefinition> {
    // The body reader returns only JSON values.
    const idempotency = await toIdempotencyKey(request, idempotencyKey, document as Json);
    const { host } = this.#services;
    const { body } = contextOf(request);
    const source = body?.text ?? null;
    const actor = await actorOf(request);
    const read = { document, source, ...(body !== null && { writtenNumber: body.numbers() }) };
    const posted = { ...read, origin: toOrigin(origin), actor };
    const registered = await host.definitions.register(posted, idempotency, strict);
    this.setHeader('Location', `/api/definition/${encodeURIComponent(registered.id)}`);
    return toRegisteredDefinition(request, registered);
  }

  /**
   * Checks a definition without storing it.
   *
   * @summary Check a definition
   * @param strict Whether to respond with 400 if there are errors or warnings
   */
  @Post('validate')
  @SuccessResponse(200, 'Checked')
  @Response<Problem>(
    400,
    'The body cannot be read or, with strict, the definition has errors or warnings',
  )
  @Response<Problem>(413, 'The body is too large')
  @Response<Problem>(415, 'The body is neither JSON nor YAML')
  @Security('bearer', ['conductor:author'])
  @Middlewares(requiredBody)
  @Extension('x-request-schema', 'DefinitionDocument')
  async validateDefinition(
    @Body() document: unknown,
    @Request() request: HttpRequest,
    @Query() strict: boolean = false,
  ): Promise<DefinitionCheck> {
    const { definitions } = this.#services.host;
    const { body } = contextOf(request);
    const posted = { document, ...(body !== null && { writtenNumber: body.numbers() }) };
    return toDefinitionCheck(request, await definitions.check(posted, strict));
  }

  /**
   * Lists the latest version of every definition, in pages.
   *
   * @summary List definitions
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
  async listDefinitions(
    @Request() request: HttpRequest,
    @Query() limit: number = PAGE_SIZE_DEFAULT,
    @Query() cursor?: string,
  ): Promise<DefinitionPage> {
    const isAuthor = (await allowedNames(request, 'conductor:author')) === 'all';
    const allowed = isAuthor ? 'all' : await allowedNames(request, 'conductor:viewer');
    const page = await this.#services.host.definitions.list(toPageRequest(limit, cursor), allowed);
    return toWirePage(page, toDefinitionSummary);
  }

  /**
   * Returns a definition in its canonical form, with its version.
   *
   * With `source`, returns the text exactly as it was posted instead, including comments and member order. The content type is
   * always `application/yaml`, which includes JSON. `source` has no effect on versions that were stored before the server kept
   * source texts.
   *
   * @summary Get a definition
   * @param id The id of the definition
   * @param version The version to return; by default, the latest
   * @isInt version must be a whole number
   * @minimum version 1 must be at least 1
   * @maximum version 2147483647 must be at most 2147483647
   * @param source Whether to return the text as it was posted
   */
  @Get('{id}')
  @Response<Problem>(400, 'A parameter is invalid')
  @Response<Problem>(404, 'There is no such definition or version')
  @Security('bearer', ['conductor:author'])
  @Security('bearer', ['conductor:viewer'])
  // In the posted text, names can have any casing.
  @Extension('x-yaml-schema', {
    type: 'object',
    description: 'The definition or, with `source`, its text as posted, with names in any casing',
    additionalProperties: true,
  })
  async getDefinition(
    @Path() id: string,
    @Request() request: HttpRequest,
    @Query() version?: number,
    @Query() source: boolean = false,
  ): Promise<DefinitionDocument> {
    const name = checkedName(id, 'definition id');
    const { definitions } = this.#services.host;
    const wanted = version ?? 'latest';
    const text = source ? await definitions.source(name, wanted) : null;
    if (text === null) return toDefinitionDocument(await definitions.get(name, wanted));
    sendText(responseOf(request), 'application/yaml; charset=utf-8', text);
    // A response was already sent, so tsoa doesn't send this value.
    return { id: name, steps: [] };
  }

  /**
   * Returns a TypeScript module with the types of a definition: `Input` (the start data), `Data` (the data of a run) and
   * `Activities` (the parameters of each activity, where they are literal).
   *
   * @summary Get the types of a definition
   * @param id The id of the definition
   * @param version The version to describe; by default, the latest
   * @isInt version must be a whole number
   * @minimum version 1 must be at least 1
   * @maximum version 2147483647 must be at most 2147483647
   */
  @Get('{id}/types')
  @Produces('text/plain')
  @Response<Problem>(400, 'A parameter is invalid')
  @Response<Problem>(404, 'There is no such definition or version')
  @Security('bearer', ['conductor:author'])
  @Security('bearer', ['conductor:viewer'])
  async getDefinitionTypes(
    @Path() id: string,
    @Request() request: HttpRequest,
    @Query() version?: number,
  ): Promise<string> {
    const name = checkedName(id, 'definition id');
    const text = await this.#services.host.definitions.types(name, version ?? 'latest');
    sendText(responseOf(request), 'text/plain; charset=utf-8', text);
    return text;
  }

  /**
   * Counts open runs by their current steps. The server looks at about 200 runs at most; if there are more, `exact` is false.
   *
   * @summary Count open runs by step
   * @param id The id of the definition
   * @param version Only runs of this version; by default, of all versions
   * @isInt version must be a whole number
   * @minimum version 1 must be at least 1
   * @maximum version 2147483647 must be at most 2147483647
   */
  @Get('{id}/open-steps')
  @Response<Problem>(400, 'A parameter is invalid')
  @Response<Problem>(404, 'There is no such definition or version')
  @Security('bearer', ['conductor:viewer'])
  async countOpenSteps(@Path() id: string, @Query() version?: number): Promise<OpenSteps> {
    const definitionId = checkedName(id, 'definition id');
    const { definitions, instances } = this.#services.host;
    await definitions.get(definitionId, version ?? 'latest');
    const found = await instances.countOpenSteps({
      definitionId,
      ...(version !== undefined && { version }),
    });
    return { ...found, items: [...found.items] };
  }

  /**
   * Disables a definition: none of its versions can be started on any node. Open runs continue.
   *
   * @summary Disable a definition
   * @param id The id of the definition
   */
  @Put('{id}/disable')
  @Response<Problem>(404, 'There is no such definition')
  @Security('bearer', ['conductor:author'])
  async disableDefinition(@Path() id: string): Promise<DefinitionDocument> {
    return this.#setDisabled(id, true);
  }

  /**
   * Enables a disabled definition.
   *
   * @summary Enable a definition
   * @param id The id of the definition
   */
  @Put('{id}/enable')
  @Response<Problem>(404, 'There is no such definition')
  @Security('bearer', ['conductor:author'])
  async enableDefinition(@Path() id: string): Promise<DefinitionDocument> {
    return this.#setDisabled(id, false);
  }

  async #setDisabled(id: string, disabled: boolean): Promise<DefinitionDocument> {
    const name = checkedName(id, 'definition id');
    return toDefinitionDocument(await this.#services.host.definitions.setDisabled(name, disabled));
  }

  /**
   * Lists all versions of a definition, the newest first, in pages.
   *
   * @summary List the versions of a definition
   * @param id The id of the definition
   * @param limit The maximum number of items on a page
   * @isInt limit must be a whole number
   * @minimum limit 1 must be at least 1
   * @maximum limit 500 must be at most 500
   * @param cursor `nextCursor` of the previous page
   */
  @Get('{id}/versions')
  @Response<Problem>(400, 'A parameter is invalid')
  @Response<Problem>(404, 'There is no such definition')
  @Security('bearer', ['conductor:author'])
  @Security('bearer', ['conductor:viewer'])
  async listDefinitionVersions(
    @Path() id: string,
    @Query() limit: number = PAGE_SIZE_DEFAULT,
    @Query() cursor?: string,
  ): Promise<DefinitionPage> {
    const name = checkedName(id, 'definition id');
    const page = toPageRequest(limit, cursor);
    return toWirePage(
      await this.#services.host.definitions.listVersions(name, page),
      toDefinitionSummary,
    );
  }
}
