import {
  Controller,
  Get,
  Middlewares,
  Query,
  Response,
  Route,
  Security,
  Tags,
} from '@tsoa/runtime';
import { PAGE_SIZE_DEFAULT } from '../http/api-limits.js';
import { knownQuery } from '../http/query-names.js';
import type { ApiServices } from '../http/request-context.js';
import { toAuditEntry, toAuditFilter } from '../wire/map/audit.js';
import { toPageRequest, toWirePage } from '../wire/map/page.js';
import type { AuditPage } from '../wire/models/audit.js';
import type { Problem } from '../wire/models/problem.js';
import type { Time } from '../wire/models/time.js';

@Route('api/audit')
@Tags('Audit')
@Middlewares(knownQuery)
export class AuditController extends Controller {
  readonly #services: ApiServices;

  constructor(services: ApiServices) {
    super();
    this.#services = services;
  }

  /**
   * Lists the changes that clients have made, the newest first, in pages: to definitions, scripts, triggers, webhooks, limits,
   * notifications and API keys, and all actions that control runs. With filters, a page can have fewer items than the limit even
   * if more follow. Continue as long as there is a `nextCursor`.
   *
   * @summary List changes
   * @param actor Only changes by this actor
   * @param action Only this action, such as `workflow.suspend`
   * @param address Only calls from this address
   * @param targetKind Only changes to targets of this kind, such as `webhook`
   * @param targetId Only changes to targets with this id or name
   * @param from Only changes at or after this time, ISO 8601
   * @param to Only changes before this time, ISO 8601
   * @param limit The maximum number of items on a page
   * @isInt limit must be a whole number
   * @minimum limit 1 must be at least 1
   * @maximum limit 500 must be at most 500
   * @param cursor `nextCursor` of the previous page
   */
  @Get()
  @Response<Problem>(400, 'A parameter is invalid')
  @Security('bearer', ['conductor:admin'])
  async listAudit(
    @Query() actor?: string,
    @Query() action?: string,
    @Query() address?: string,
    @Query() targetKind?: string,
    @Query() targetId?: string,
    @Query() from?: Time,
    @Query() to?: Time,
    @Query() limit: number = PAGE_SIZE_DEFAULT,
    @Query() cursor?: string,
  ): Promise<AuditPage> {
    const filter = toAuditFilter({ actor, action, address, targetKind, targetId, from, to });
    const { audit } = this.#services.host;
    return toWirePage(await audit.list(filter, toPageRequest(limit, cursor)), toAuditEntry);
  }
}
