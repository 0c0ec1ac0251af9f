/** Creates the controllers for tsoa's routes: one for each request, with the services of its application. */
import type { Request } from 'express';
import { createAudited } from './access/audited-calls.js';
import type { ApiServices } from './http/request-context.js';

type ControllerClass<T> = new (services: ApiServices) => T;

/** A controller holds the status and headers of one response, so requests must not share controllers. */
export function iocContainer(request: Request): {
  get<T extends object>(controller: ControllerClass<T>): T;
} {
  return { get: (controller) => createAudited(controller, request) };
}
