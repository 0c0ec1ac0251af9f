import { Controller, Get, Middlewares, Route, Security, Tags } from '@tsoa/runtime';
import { knownQuery } from '../http/query-names.js';
import type { ApiServices } from '../http/request-context.js';
import type { SecretPage } from '../wire/models/secret.js';

@Route('api/secret')
@Tags('Secrets')
@Middlewares(knownQuery)
export class SecretController extends Controller {
  readonly #services: ApiServices;

  constructor(services: ApiServices) {
    super();
    this.#services = services;
  }

  /**
   * Lists the names of all secrets and the definitions that use them. Values are never shown.
   *
   * @summary List secrets
   */
  @Get()
  @Security('bearer', ['conductor:author'])
  async listSecrets(): Promise<SecretPage> {
    const found = await this.#services.host.secrets.list();
    const items = found.map(({ definitions, isKnown, name }) => ({
      name,
      missing: !isKnown,
      definitions: [...definitions],
    }));
    return { items, nextCursor: null };
  }
}
