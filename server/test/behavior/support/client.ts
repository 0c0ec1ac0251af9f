/** The actions of an external client, over HTTP only. */
import { expect } from 'vitest';
import type { WorkItem } from '../../../src/api/wire/models/activity.js';
import type { Problem } from '../../../src/api/wire/models/problem.js';
import type {
  StepExecution,
  StepExecutionPage,
} from '../../../src/api/wire/models/step-execution.js';
import type { Workflow } from '../../../src/api/wire/models/workflow.js';
import type { Json, JsonObject } from '../../../src/engine/values/json.js';
import { CAMEL_JSON, type Dialect } from './dialects.js';
import { eventually } from '../../../../sdk/test/support/eventually.js';

export interface Answer<Body = unknown> {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed body, if it is JSON. */
  readonly body: Body;
}

export interface CallOptions {
  readonly body?: string | Uint8Array;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** Longer than any case takes, shorter than the timeout of a test. */
const END_WAIT_SECONDS = 40;

let made = 0;

/** An id that no other case has used. */
export function fresh(name: string): string {
  made += 1;
  return `${name}-${made}`;
}

export class Client {
  constructor(
    readonly url: string,
    readonly dialect: Dialect = CAMEL_JSON,
  ) {}

  async call<Body = unknown>(
    method: string,
    path: string,
    options: CallOptions = {},
  ): Promise<Answer<Body>> {
    const { body, headers = {}, signal, type } = options;
    const response = await fetch(this.url + path, {
      method,
      headers: { ...(type === undefined ? {} : { 'content-type': type }), ...headers },
      ...(body === undefined ? {} : { body: new Uint8Array(Buffer.from(body)) }),
      ...(signal === undefined ? {} : { signal }),
    });
    const text = await response.text();
    const isJson = /[/+]json/.test(response.headers.get('content-type') ?? '');
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: (isJson && text !== '' ? JSON.parse(text) : undefined) as Body,
    };
  }

  get<Body = unknown>(path: string): Promise<Answer<Body>> {
    return this.call('GET', path);
  }

  /** POST of a value in the client's format. */
  post<Body = unknown>(
    path: string,
    value: Json,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer<Body>> {
    const { mediaType: type } = this.dialect;
    return this.call('POST', path, { body: this.dialect.write(value), type, headers });
  }

  // -- definitions

  postDefinition<Body = Problem>(definition: JsonObject): Promise<Answer<Body>> {
    return this.post('/api/definition', this.dialect.spell(definition));
  }

  /** Stores a definition of these steps (or a whole one without an id) under a new id, which it returns. */
  async define(steps: readonly JsonObject[] | JsonObject): Promise<string> {
    const Id = fresh('definition');
    const rest = Array.isArray(steps) ? { Steps: steps as Json[] } : (steps as JsonObject);
    const answer = await this.postDefinition({ ...rest, Id });
    expect(answer.status, answer.text).toBe(201);
    return Id;
  }

  // -- instances

  async start(definitionId: string, data: JsonObject = {}, reference?: string): Promise<string> {
    const query = reference === undefined ? '' : `?reference=${encodeURIComponent(reference)}`;
    const path = `/api/workflow/${encodeURIComponent(definitionId)}${query}`;
    const answer = await this.post<Workflow>(path, data);
    expect(answer.status, answer.text).toBe(201);
    return answer.body.workflowId;
  }

  async defineAndStart(
    steps: readonly JsonObject[] | JsonObject,
    data: JsonObject = {},
  ): Promise<string> {
    return this.start(await this.define(steps), data);
  }

  /** Stores the definition, starts a run and waits for its end. */
  async run(steps: readonly JsonObject[] | JsonObject, data: JsonObject = {}): Promise<Workflow> {
    return this.ended(await this.defineAndStart(steps, data));
  }

  async workflow(id: string): Promise<Workflow> {
    const answer = await this.get<Workflow>(`/api/workflow/${id}`);
    expect(answer.status, answer.text).toBe(200);
    return answer.body;
  }

  /** The run once it has ended; fails if it does not end. */
  async ended(id: string): Promise<Workflow> {
    const path = `/api/workflow/${id}?wait=${END_WAIT_SECONDS}`;
    const { body: workflow, status, text } = await this.get<Workflow>(path);
    expect(status, text).toBe(200);
    if (workflow.endTime === null) {
      const steps = await this.steps(id);
      expect.fail(`did not end: ${JSON.stringify(workflow)}, steps ${JSON.stringify(steps)}`);
    }
    return workflow;
  }

  /** All steps that have run or are open, from all pages. */
  async steps(id: string): Promise<readonly StepExecution[]> {
    const all: StepExecution[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const path: string = `/api/workflow/${id}/steps?limit=500&cursor=${cursor}`;
      const answer: Answer<StepExecutionPage> = await this.get(path);
      expect(answer.status, answer.text).toBe(200);
      all.push(...answer.body.items);
      cursor = answer.body.nextCursor;
    }
    return all;
  }

  /** `id Status` of the steps that ran, in order. */
  async trace(id: string): Promise<readonly string[]> {
    return (await this.steps(id)).map(({ stepId, status }) => `${stepId} ${status}`);
  }

  /** The run once the condition holds. */
  untilWorkflow(id: string, holds: (workflow: Workflow) => boolean): Promise<Workflow> {
    let seen: Workflow;
    const what = (): string => `run ${id} changes; last seen: ${JSON.stringify(seen)}`;
    return eventually(what, async () => holds((seen = await this.workflow(id))) && seen);
  }

  /** The newest execution of the step once the condition holds. */
  untilStep(
    id: string,
    stepId: string,
    holds: (step: StepExecution) => boolean,
  ): Promise<StepExecution> {
    let seen: StepExecution | undefined;
    const what = (): string => `step ${stepId} changes; last seen: ${JSON.stringify(seen)}`;
    return eventually(what, async () => {
      seen = (await this.steps(id)).filter((step) => step.stepId === stepId).at(-1);
      return seen !== undefined && holds(seen) && seen;
    });
  }

  untilWaiting(id: string, stepId: string): Promise<StepExecution> {
    return this.untilStep(id, stepId, ({ status }) => status === 'Waiting');
  }

  control(id: string, action: 'suspend' | 'resume'): Promise<Answer<Workflow>> {
    return this.call('PUT', `/api/workflow/${id}/${action}`);
  }

  terminate(id: string): Promise<Answer<Workflow>> {
    return this.call('DELETE', `/api/workflow/${id}`);
  }

  // -- events and activities

  async publish(
    name: string,
    key: string,
    data: Json,
  ): Promise<{ id: string; deliveredTo: number }> {
    const path = `/api/event/${encodeURIComponent(name)}/${encodeURIComponent(key)}`;
    const answer = await this.post<{ id: string; deliveredTo: number }>(path, data);
    expect(answer.status, answer.text).toBe(202);
    return answer.body;
  }

  pull(name: string, query = ''): Promise<Answer<WorkItem>> {
    return this.get(`/api/activity/${encodeURIComponent(name)}${query}`);
  }

  /** A work item; fails if there is none. */
  async work(name: string, query = ''): Promise<WorkItem> {
    const answer = await this.pull(name, `?timeout=${END_WAIT_SECONDS}${query}`);
    expect(answer.status, answer.text).toBe(200);
    return answer.body;
  }

  async succeed(token: string, result: Json): Promise<void> {
    const answer = await this.post(`/api/activity/success/${token}`, result);
    expect(answer.status, answer.text).toBe(202);
  }

  async fail(token: string, reason: Json): Promise<void> {
    const answer = await this.post(`/api/activity/fail/${token}`, reason);
    expect(answer.status, answer.text).toBe(202);
  }

  // -- custom steps

  async script(source: string): Promise<string> {
    const name = fresh('script');
    const answer = await this.call('POST', `/api/step/${name}`, {
      body: source,
      type: 'text/x-python',
    });
    expect(answer.status, answer.text).toBe(200);
    return name;
  }
}
