/** The doors by which runs are started: clients, webhooks and triggers. */
import { createHmac } from 'node:crypto';
import { expect } from 'vitest';
import type { Problem } from '../../../src/api/wire/models/problem.js';
import type { Trigger } from '../../../src/api/wire/models/trigger.js';
import type { ControlledWorkflow, Workflow } from '../../../src/api/wire/models/workflow.js';
import type { JsonObject } from '../../../src/engine/values/json.js';
import { fresh, type Client } from './client.js';

/** A run, or a problem. */
export type Started = Omit<ControlledWorkflow, 'status'> & Refusal & { status: unknown };
type Refusal = Pick<Problem, 'code' | 'detail'>;

export const SECRET = 'a secret that nobody else may see';
export function start(client: Client, id: string, data: JsonObject, query = '') {
  return client.post<Started>(`/api/workflow/${id}?${query}`, data);
}

export async function runsOf(client: Client, id: string): Promise<readonly Workflow[]> {
  const path = `/api/workflow?definitionId=${id}&limit=500`;
  return (await client.get<{ items: Workflow[] }>(path)).body.items;
}

export async function triggerOf(client: Client, id: string): Promise<Trigger> {
  const { body } = await client.get<Trigger[]>(`/api/definition/${id}/triggers`);
  return body[0]!;
}

export async function webhook(client: Client, settings: JsonObject): Promise<string> {
  const name = fresh('hook');
  const answer = await client.call('PUT', `/api/webhook/${name}`, {
    body: JSON.stringify({ scheme: 'github', secret: SECRET, start: settings }),
    type: 'application/json',
  });
  expect(answer.status, answer.text).toBe(200);
  return name;
}

export function deliver(client: Client, name: string, data: JsonObject) {
  const body = JSON.stringify(data);
  const signature = createHmac('sha256', SECRET).update(body).digest('hex');
  const headers = {
    'content-type': 'application/json',
    'x-hub-signature-256': `sha256=${signature}`,
    'x-github-delivery': fresh('delivery'),
  };
  return client.call<{ id: string } & Refusal>('POST', `/hooks/${name}`, {
    body,
    headers,
  });
}
