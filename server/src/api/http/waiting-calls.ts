/** Calls that wait for what others do: within the share of their address, and only as long as the caller has its right. */
import type { Request } from 'express';
import { AppError } from '../../base/errors.js';
import { authorizationEnded } from '../access/admission.js';
import { addressOf, isCallerDisconnected, contextOf } from './request-context.js';

/**
 * @param call gets the signal that ends it when the caller disconnects or loses its right
 * @param effectOf what the caller learns of the effect of the call all the same
 * @throws AppError `too_many_requests`; `authorization_ended` if the right has ended meanwhile; StoreUnavailableError
 */
export async function waitForCaller<Result>(
  request: Request,
  call: (gone: AbortSignal) => Promise<Result>,
  effectOf: (result: Result) => Readonly<Record<string, string>> = () => ({}),
): Promise<Result> {
  const { admission, services } = contextOf(request);
  admission?.waits();
  const result = await services.waiting.guard(addressOf(request), () =>
    call(isCallerDisconnected(request)),
  );
  try {
    await admission?.confirm();
  } catch (error) {
    admission?.abandon();
    if (error instanceof AppError) throw authorizationEnded(effectOf(result));
    throw error;
  }
  return result;
}
