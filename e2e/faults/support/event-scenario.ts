/** Plays one case of `event-cells.ts`: its runs, its actions in order, and the events that were taken at the end. */
import { setTimeout } from 'node:timers/promises';
import { assign, definition } from './definitions.js';
import type { EventCell } from './event-cells.js';
import { eventually } from './eventually.js';
import type { PersistentClient } from './persistent-client.js';
import type { Instance, Page, StepRow, WorkItem } from './wire.js';

type Step = Parameters<typeof definition>[1][number];

/** Published repeatedly when the case is over: remaining waits take it and end. */
const LAST = 'last';

const BEGIN = assign('begin', { taken: '[]' });
/** Holds the run before its wait until the case releases it. */
const GATE: Step = {
  Id: 'gate',
  StepType: 'Activity',
  Inputs: { ActivityName: '"gate-" + data.name' },
};

function waitStep(id: string, effectiveDate?: string): Step {
  return {
    Id: id,
    StepType: 'WaitFor',
    Inputs: {
      EventName: '"go"',
      EventKey: 'data.key',
      ...(effectiveDate === undefined ? {} : { EffectiveDate: effectiveDate }),
    },
    Outputs: { taken: 'data.taken + [step.EventData]' },
  };
}

const ONE_WAIT = definition('one', [BEGIN, GATE, waitStep('wait')]);

interface Shape {
  readonly definition: object;
  readonly instances?: number;
}

export const EVENT_WORKFLOWS: Readonly<Record<string, Shape>> = {
  'one wait': { definition: ONE_WAIT },
  'two workflows with one wait each': { definition: ONE_WAIT, instances: 2 },
  'a wait with EffectiveDate a minute ago': {
    definition: definition('earlier', [
      BEGIN,
      GATE,
      waitStep('wait', 'datetime.now(timezone.utc) - timedelta(minutes=1)'),
    ]),
  },
  'a wait with EffectiveDate in ten seconds': {
    definition: definition('later', [
      BEGIN,
      GATE,
      waitStep('wait', 'datetime.now(timezone.utc) + timedelta(seconds=10)'),
    ]),
  },
  'a loop of three waits': {
    definition: definition('loop', [
      BEGIN,
      GATE,
      {
        Id: 'loop',
        StepType: 'While',
        Inputs: { Condition: 'len(data.taken) < 3' },
        Do: [[waitStep('wait')]],
      },
    ]),
  },
  'two waits side by side': {
    definition: definition('beside', [
      BEGIN,
      GATE,
      { Id: 'both', StepType: 'Parallel', Do: [[waitStep('wait')], [waitStep('other')]] },
    ]),
  },
};

export class EventScenario {
  readonly #client: PersistentClient;
  readonly #key: string;
  readonly #shape: Shape;
  readonly #definitionId: string;
  readonly #passRetention: () => Promise<void>;
  #workflows: { readonly name: string; readonly workflowId: string }[] = [];
  #published = 0;

  constructor(
    client: PersistentClient,
    cell: EventCell,
    options: { readonly key: string; readonly passRetention: () => Promise<void> },
  ) {
    const shape = EVENT_WORKFLOWS[cell.workflow];
    if (shape === undefined) throw new Error(`unknown workflow '${cell.workflow}'`);
    this.#client = client;
    this.#shape = shape;
    this.#key = options.key;
    this.#passRetention = options.passRetention;
    this.#definitionId = (shape.definition as { readonly Id: string }).Id;
  }

  async do(action: string): Promise<void> {
    const publication = /^publish (\d+)( again)?$/.exec(action);
    if (publication !== null) {
      await this.#publish(Number(publication[1]), publication[2] !== undefined);
    } else if (action === 'start') await this.#start();
    else if (action === 'wait') await this.#each((workflow) => this.#openGate(workflow));
    else if (action === 'suspend' || action === 'resume') {
      await this.#each(({ workflowId }) =>
        this.#call('PUT', `/api/workflow/${workflowId}/${action}`),
      );
    } else if (action === 'terminate') {
      await this.#each(({ workflowId }) => this.#call('DELETE', `/api/workflow/${workflowId}`));
    } else if (action === 'the retention of events passes') await this.#passRetention();
    else throw new Error(`unknown action '${action}'`);
  }

  /** The events that each run took. A run that is still waiting gets the next event, to show that it would take one. */
  async end(): Promise<readonly (readonly unknown[])[]> {
    const taken: (readonly unknown[])[] = [];
    for (const { workflowId } of this.#workflows) {
      const ended = await eventually(`${this.#key} ends`, async () => {
        await this.#call('POST', `/api/event/go/${this.#key}`, { body: LAST });
        const instance = await this.#read(workflowId);
        return ['Complete', 'Terminated'].includes(instance.status) && instance;
      });
      taken.push((ended.data['taken'] as unknown[]).filter((value) => value !== LAST));
    }
    return taken;
  }

  async #start(): Promise<void> {
    const count = this.#shape.instances ?? 1;
    for (let at = 0; at < count; at += 1) {
      const name = `${this.#key}-${at}`;
      const body = { name, key: this.#key };
      const started = await this.#call('POST', `/api/workflow/${this.#definitionId}`, {
        body,
        key: name,
      });
      this.#workflows.push({ name, workflowId: (started as Instance).workflowId });
    }
  }

  async #publish(value: number, isAgain: boolean): Promise<void> {
    if (!isAgain) this.#published += 1;
    await this.#call('POST', `/api/event/go/${this.#key}`, {
      body: value,
      key: `${this.#key}-${this.#published}`,
    });
    // Two events of the same millisecond have no order.
    await setTimeout(2);
  }

  /** Lets the run continue until it is waiting or has ended. */
  async #openGate({ name, workflowId }: { name: string; workflowId: string }): Promise<void> {
    const poll = `/api/activity/gate-${name}?workerId=gate&timeout=30`;
    const { token } = (await this.#call('GET', poll, { deadlineMs: 120_000 })) as WorkItem;
    await this.#call('POST', `/api/activity/success/${token}`, { body: null });
    await eventually(`${name} waits`, async () => {
      const steps = (await this.#call('GET', `/api/workflow/${workflowId}/steps`)) as Page<StepRow>;
      return steps.items.some(
        ({ stepId, status }) => stepId === 'wait' && ['Waiting', 'Complete'].includes(status),
      );
    });
  }

  async #each(act: (workflow: { name: string; workflowId: string }) => Promise<unknown>) {
    for (const workflow of this.#workflows) await act(workflow);
  }

  async #read(workflowId: string): Promise<Instance> {
    return (await this.#call('GET', `/api/workflow/${workflowId}`)) as Instance;
  }

  async #call(...call: Parameters<PersistentClient['call']>): Promise<unknown> {
    return (await this.#client.call(...call)).body;
  }
}
