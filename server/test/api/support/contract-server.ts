/** The server that tests of the contract call, and calls that most of them make. */
import { afterAll, beforeAll, expect } from 'vitest';
import { startRealServer, type JsonBody, type RealServer } from './real-server.js';

export interface Workflow extends JsonBody {
  readonly workflowId: string;
  readonly status: string;
  readonly data: JsonBody;
}

export interface WorkItem extends JsonBody {
  readonly token: string;
  readonly tokenExpiry: string;
}

export interface Items<Item = JsonBody> {
  readonly items: readonly Item[];
  readonly nextCursor: string | null;
}

/** Starts the server before the tests of a file and stops it after them. */
export function contractServer() {
  let server: RealServer;
  let names = 0;

  beforeAll(async () => {
    server = await startRealServer();
  });
  afterAll(async () => {
    await server.stop();
  });

  const call: RealServer['call'] = (line, options) => server.call(line, options);

  /** A name that no other test uses. */
  const freshName = (stem: string): string => {
    names += 1;
    return `${stem}-${names}`;
  };
  const define = async (steps: readonly JsonBody[], members: JsonBody = {}): Promise<string> => {
    const id = freshName('definition');
    const { status, text } = await call('POST /api/definition', {
      json: { id, steps, ...members },
    });
    expect(status, text).toBe(201);
    return id;
  };
  const start = async (definitionId: string, data: JsonBody = {}): Promise<Workflow> => {
    const { status, body, text } = await call<Workflow>(`POST /api/workflow/${definitionId}`, {
      json: data,
    });
    expect(status, text).toBe(201);
    return body;
  };
  const ended = async (workflowId: string): Promise<Workflow> =>
    (await call<Workflow>(`GET /api/workflow/${workflowId}?wait=20`)).body;

  const baseUrl = (): string => server.url;

  return { baseUrl, call, define, ended, freshName, start };
}

export const GREET = {
  id: 'greet',
  stepType: 'NoOp',
  outputs: { greeting: '"Hello " + data.name' },
};
export const WAIT = {
  id: 'ask',
  stepType: 'WaitFor',
  inputs: { EventName: '"answered"', EventKey: 'data.key' },
  outputs: { answer: 'step.EventData' },
};

export function activityStep(name: string): JsonBody {
  return {
    id: 'work',
    stepType: 'Activity',
    errorBehavior: 'Terminate',
    inputs: { ActivityName: JSON.stringify(name), Parameters: { '@n': 'data.n', kind: 'plain' } },
    outputs: { result: 'step.Result' },
  };
}
