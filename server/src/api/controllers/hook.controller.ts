import {
  Controller,
  Middlewares,
  Path,
  Post,
  Request,
  Res,
  Response,
  Route,
  SuccessResponse,
  Tags,
  type TsoaResponse,
} from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import { AppError } from '../../base/errors.js';
import { readWebhookBody, webhookBody } from '../http/body-reader.js';
import { addressOf, traceOf, type ApiServices } from '../http/request-context.js';
import { headersOf, queryOf } from '../wire/map/webhook.js';
import type { Problem } from '../wire/models/problem.js';
import type { ReceivedDelivery, WebhookChallenge } from '../wire/models/webhook.js';

@Route('hooks')
@Tags('Webhooks')
export class HookController extends Controller {
  readonly #services: ApiServices;

  constructor(services: ApiServices) {
    super();
    this.#services = services;
  }

  /**
   * Receives calls from other systems: verifies the signature of the raw body, then publishes the event or starts the run that
   * the webhook is set up for. No bearer token is required. A delivery whose id was seen in the last 24 hours changes nothing and
   * gets the same response.
   *
   * @summary Call a webhook
   * @param name The name of the webhook
   * @param checked The response to Slack's URL verification
   */
  @Post('{name}')
  @SuccessResponse(202, 'Accepted')
  @Response<Problem>(
    400,
    'The signature is valid, but the body or the result of an expression is not',
  )
  @Response<Problem>(401, 'The signature or its timestamp is invalid, or there is no such webhook')
  @Response<Problem>(404, 'There is no such definition')
  @Response<Problem>(409, 'The definition is disabled, or another run has the reference')
  @Response<Problem>(413, 'The body is too large')
  @Response<Problem>(415, 'The body is compressed or is not UTF-8')
  @Response<Problem>(429, 'Too many calls')
  @Middlewares(webhookBody)
  async callWebhook(
    @Path() name: string,
    @Request() request: HttpRequest,
    @Res() checked: TsoaResponse<200, WebhookChallenge>,
  ): Promise<ReceivedDelivery> {
    const { host, wrongSignatures } = this.#services;
    // Read by `webhookBody`.
    const bytes = request.body as Buffer;
    try {
      const received = await host.webhooks.receive(name, {
        bytes,
        headers: headersOf(request.headers),
        query: queryOf(request.url),
        body: () => readWebhookBody(request, bytes),
        ...traceOf(request),
      });
      wrongSignatures.noteRight(addressOf(request));
      return 'challenge' in received ? (checked(200, received) as never) : received;
    } catch (error) {
      if (error instanceof AppError && error.code === 'unauthenticated') {
        wrongSignatures.countWrong(addressOf(request));
      }
      throw error;
    }
  }
}
