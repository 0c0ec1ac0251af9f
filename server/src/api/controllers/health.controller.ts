import { Controller, Get, Produces, Request, Response, Route, Tags } from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import { sendText } from '../http/answer-format.js';
import type { Liveness, Readiness } from '../wire/models/health.js';
import { responseOf, type ApiServices } from '../http/request-context.js';

@Route('')
@Tags('Server')
export class HealthController extends Controller {
  readonly #services: ApiServices;

  constructor(services: ApiServices) {
    super();
    this.#services = services;
  }

  /**
   * Reports that the process is running. If a server doesn't respond, restart it.
   *
   * @summary Liveness
   */
  @Get('health/live')
  async getLiveness(): Promise<Liveness> {
    return { status: 'live' };
  }

  /**
   * Reports whether the server can serve requests. It can't while it is starting or stopping, or while its store is unavailable.
   *
   * @summary Readiness
   */
  @Get('health/ready')
  @Response<Readiness>(503, 'Not ready; the reasons are in the body')
  async getReadiness(): Promise<Readiness> {
    const { ready, reasons } = this.#services.host.readiness();
    if (!ready) this.setStatus(503);
    return { ready, reasons: [...reasons] };
  }

  /**
   * Returns the metrics in the Prometheus text format.
   *
   * @summary Metrics
   */
  @Get('metrics')
  @Produces('text/plain')
  async getMetrics(@Request() request: HttpRequest): Promise<string> {
    const { text, contentType } = await this.#services.host.metrics();
    sendText(responseOf(request), contentType, text);
    return text;
  }
}
