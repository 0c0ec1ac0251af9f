/**
 * Calls controllers for tsoa's routes. Each call first takes the memory for its response.
 *
 * It also validates parameters. tsoa copies union values through JSON, which has no `bigint`, the type of large integers in
 * bodies. Unions in the wire types never hold caller data, so the copy may be inexact.
 */
import { ExpressTemplateService, ValidationService } from '@tsoa/runtime';
import type { Request, Response } from 'express';
import { beginRequest, contextOf } from './request-context.js';

type Handled = Parameters<ExpressTemplateService['apiHandler']>[0];

interface Returned {
  readonly response: Response;
  readonly headers: unknown;
  readonly statusCode?: number;
  readonly data?: unknown;
}

export class BodyTemplateService extends ExpressTemplateService {
  protected override validationService = new BodyValidation(this.models, this.config);

  /** A body may take a long time to arrive. If the sender's authorization ends in the meantime, the call has no effect. */
  override async apiHandler(handled: Handled): Promise<void> {
    const { controller, methodName, next, response } = handled;
    try {
      // Unauthenticated calls haven't been queued yet.
      await beginRequest(response.req);
      await takeAnswerMemory(response.req, `${controller.constructor.name}.${methodName}`);
      await contextOf(response.req).admission?.confirm();
    } catch (error) {
      next(error);
      return;
    }
    await super.apiHandler(handled);
  }

  /** A controller that sends its own response (`@Res`) returns nothing, and the response may still be in progress. */
  protected override returnHandler(answer: Returned): void {
    const context = contextOf(answer.response.req);
    if (context.isAnswered) return;
    context.isAnswered = true;
    super.returnHandler(answer);
  }
}

async function takeAnswerMemory(request: Request, route: string): Promise<void> {
  const context = contextOf(request);
  context.route = route;
  context.routeMemory = await context.services.routeMemory.reserve(route, context.caller);
}

class BodyValidation extends ValidationService {
  override validateUnion(
    ...[name, value, ...rest]: Parameters<ValidationService['validateUnion']>
  ): unknown {
    return super.validateUnion(name, withoutBigInts(value), ...rest) as unknown;
  }
}

function withoutBigInts(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (Array.isArray(value)) return value.map(withoutBigInts);
  if (typeof value !== 'object' || value === null) return value;
  // `fromEntries` keeps members such as `__proto__`.
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, withoutBigInts(member)]),
  );
}
