/**
 * Runs with one step of each kind under a limit: a call and a work item with a key, a child, and a call under a rate. And what must
 * hold for them, whatever was killed.
 */
import { expect } from 'vitest';
import type { Limit } from '@stepwright/sdk';
import { definition } from '../definitions.js';
import type { Fleet } from '../fleet.js';
import type { PersistentClient } from '../persistent-client.js';
import { untilEnded } from '../until-ended.js';
import type { Instance, Page } from '../wire.js';
import type { LimitedTarget } from './limited-target.js';

const KEYS = ['a', 'b', 'c'];
const LANES = 4;
const CONCURRENCY = { api: 2, work: 1, child: 3 } as const;
/** As fast as the other steps let the runs reach it, or slower. */
const RATE = { count: 8, per: '1s', burst: 2 } as const;

export function callOf(limit: string, key: string, Limits: readonly unknown[]) {
  const Resource = `"/${limit}/" + ${key} + "/" + data.name`;
  const Inputs = { BaseUrl: 'data.ledger', Resource, Method: '"POST"' };
  return { Id: limit, StepType: 'HttpRequest', Limits, Inputs };
}

const CHILD = definition('limited-child', [callOf('child', '"all"', [])]);
const PARENT = definition('limited', [
  callOf('api', 'data.key', [{ Name: 'api', Key: 'data.key' }]),
  {
    Id: 'work',
    StepType: 'Activity',
    Limits: [{ Name: 'work', Key: 'data.key' }],
    Inputs: {
      ActivityName: '"work"',
      Parameters: { '@name': 'data.name', '@key': 'data.key' },
    },
  },
  {
    Id: 'child',
    StepType: 'SubWorkflow',
    Limits: ['child'],
    Inputs: { DefinitionId: '"limited-child"', Data: 'data' },
  },
  callOf('pace', '"all"', ['pace']),
]);

export class LimitedRuns {
  readonly #client: PersistentClient;
  readonly #target: LimitedTarget;

  constructor(client: PersistentClient, target: LimitedTarget) {
    this.#client = client;
    this.#target = target;
  }

  async define(): Promise<void> {
    for (const [name, concurrency] of Object.entries(CONCURRENCY)) {
      await putLimit(this.#client, name, { concurrency });
    }
    await putLimit(this.#client, 'pace', { rate: RATE });
    for (const body of [CHILD, PARENT])
      await this.#client.call('POST', '/api/definition', { body });
  }

  /** Returns the ids of the runs once all are stored. */
  async start(count: number, ledger: string): Promise<readonly string[]> {
    const names = Array.from({ length: count }, (_, n) => n);
    const ids: string[] = [];
    const lane = async (): Promise<void> => {
      for (let n = names.shift(); n !== undefined; n = names.shift()) {
        const body = { name: `run-${n}`, key: KEYS[n % KEYS.length], ledger };
        const answer = await this.#client.call('POST', '/api/workflow/limited', { body });
        ids.push((answer.body as Instance).workflowId);
      }
    };
    await Promise.all(Array.from({ length: LANES }, lane));
    return ids;
  }

  /** Everything ends, no limit was exceeded, and nothing is held. */
  async check(ids: readonly string[], fleet: Fleet): Promise<void> {
    for (const id of ids) {
      expect(await untilEnded(this.#client, id)).toMatchObject({ status: 'Complete' });
    }
    const target = this.#target;
    const keys = KEYS.flatMap((key) => [`/api/${key}`, `/work/${key}`]);
    expect(target.groups).toEqual([...keys, '/child/all', '/pace/all'].sort());
    for (const [name, concurrency] of Object.entries(CONCURRENCY)) {
      for (const group of target.groups.filter((each) => each.startsWith(`/${name}/`))) {
        expect(target.most(group), `${group} at a time`).toBeLessThanOrEqual(concurrency);
      }
    }
    expect(target.arrivals('/pace/all')).toHaveLength(ids.length);
    this.#checkRate();
    for (const limit of await readLimits(this.#client)) {
      expect(limit).toMatchObject({ held: 0, waiting: 0, keys: [] });
    }
    expect(fleet.faults).toEqual([]);
  }

  /**
   * Each step under the rate begins after the first child, and before its own call arrives. However long its call takes, no
   * more can have begun by then.
   */
  #checkRate(): void {
    const [firstAt = Infinity] = this.#target.arrivals('/child/all');
    for (const [before, at] of this.#target.arrivals('/pace/all').entries()) {
      const most = RATE.burst + ((at - firstAt) / 1000) * RATE.count;
      expect(before + 1, `begun within ${at - firstAt} ms`).toBeLessThanOrEqual(most);
    }
  }
}

export async function putLimit(
  client: PersistentClient,
  name: string,
  body: object,
): Promise<void> {
  await client.call('PUT', `/api/limit/${name}`, { body });
}

export async function readLimits(client: PersistentClient): Promise<readonly Limit[]> {
  return ((await client.call('GET', '/api/limit')).body as Page<Limit>).items;
}
