/** Runs calls that wait for other clients: within the share of their address, and only while the caller is authorized. */
import type { Request } from 'express';
import { AppError } from '../../base/errors.js';
import { authorizationEnded } from '../access/admission.js';
import { addressOf, isCallerDisconnected, contextOf } from './request-context.js';

/**
 * @param call gets the signal that ends it when the caller disconnects or its authorization ends
 * @param effectOf the result that the caller gets even then
 * @throws AppError `too_many_requests`; `authorization_ended` if the authorization has ended; StoreUnavailableError
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
