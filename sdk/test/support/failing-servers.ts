/** Small servers that fail on purpose, and clients for them. */
import { afterEach } from 'vitest';
import { createClient, type ClientOptions, type StepwrightClient } from '../../src/index.js';
import { HttpAnswers, json, type Answer } from './http-answers.js';
import { QUICK_RETRY } from './started-server.js';

export const INFO = { name: 'stepwright' };
export const ok = json(200, INFO);

const opened: HttpAnswers[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((server) => server.close()));
});

export async function answering(
  ...answers: readonly Answer[]
): Promise<{ server: HttpAnswers; client: StepwrightClient }> {
  const server = await HttpAnswers.start(...answers);
  opened.push(server);
  return { server, client: clientOf(server.url) };
}

export function clientOf(baseUrl: string, options: Partial<ClientOptions> = {}): StepwrightClient {
  return createClient({ baseUrl, retry: QUICK_RETRY, ...options });
}

export async function failureOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => {
      throw new Error('the call should have failed');
    },
    (error: unknown) => error,
  );
}
