/** Runs HttpRequest bodies in tests and cleans up afterwards. */
import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import type { AddressPolicyOptions } from '../../../src/step-bodies/http-request/address-policy.js';
import { afterEach } from 'vitest';
import type { JsonObject } from '../../../src/engine/values/json.js';
import type { EffectResult } from '../../../src/engine/flow/messages.js';
import {
  createHttpRequestBody,
  type HttpRequestBody,
  type HttpRequestOptions,
} from '../../../src/step-bodies/http-request.js';
import type { StepBodyContext } from '../../../src/step-bodies/step-body.js';
import {
  startHttpServer,
  startHttpsServer,
  startTcpServer,
  type LocalServer,
} from './local-server.js';
import { DEFAULT_HTTP_LIMITS } from '../../support/default-limits.js';

export const OPEN_POLICY = {
  allowPrivate: true,
  allowLoopback: true,
  allowHosts: null,
  denyHosts: [],
} as const satisfies AddressPolicyOptions;

export function contextOf(overrides: Partial<StepBodyContext> = {}): StepBodyContext {
  return {
    workflowId: 'w1',
    definitionId: 'order',
    stepId: 'call',
    attempt: 1,
    idempotencyKey: 'w1/7/1',
    signal: new AbortController().signal,
    ...overrides,
  };
}

/** The variables of `step`; a failure makes the test fail with its message. */
export function valuesOf(result: EffectResult): JsonObject {
  if (!result.ok) throw new Error(`${result.failure.type}: ${result.failure.message}`);
  return result.values;
}

export function failureOf(result: EffectResult): { type: string; message: string } {
  if (result.ok) throw new Error(`no failure, but ${JSON.stringify(result.values)}`);
  return { type: result.failure.type, message: result.failure.message };
}

/** Servers and bodies of one test file; all of them are closed after each test. */
export function useCalls() {
  const open: { close(): Promise<void> }[] = [];
  afterEach(async () => {
    await Promise.all(open.splice(0).map((thing) => thing.close()));
  });
  const keep = <Thing extends { close(): Promise<void> }>(thing: Thing): Thing => {
    open.push(thing);
    return thing;
  };
  return {
    serve: async (handler: RequestListener): Promise<LocalServer> =>
      keep(await startHttpServer(handler)),
    serveSecurely: async (handler: RequestListener): Promise<LocalServer> =>
      keep(await startHttpsServer(handler)),
    serveTcp: async (onSocket: (socket: Socket) => void): Promise<LocalServer> =>
      keep(await startTcpServer(onSocket)),
    body: (options: Partial<HttpRequestOptions> = {}): HttpRequestBody =>
      keep(createHttpRequestBody({ ...OPEN_POLICY, ...DEFAULT_HTTP_LIMITS, ...options })),
  };
}

/** Something that a server observes and a test waits for. */
export function occurrence(): { readonly happened: Promise<void>; readonly happen: () => void } {
  let happen = (): void => undefined;
  const happened = new Promise<void>((resolve) => {
    happen = resolve;
  });
  return { happened, happen: () => happen() };
}
