/** A travel agency with definitions, steps, workers and events in every state that their pages show. */
import type { StepwrightClient } from '@stepwright/sdk';

/** `extra` steps are unreachable: the editor shows a warning for each. */
function trip(extra: number): object {
  return {
    id: 'trip',
    description: 'Books a trip and waits until it is over',
    input: {
      type: 'object',
      required: ['traveller'],
      properties: {
        traveller: { type: 'string', description: 'Who travels' },
        nights: { type: ['integer', 'null'], minimum: 1, default: 2 },
        from: { type: 'string', format: 'date' },
        class: { enum: ['first', 'second'] },
        stops: { type: 'array', items: { type: 'string' }, default: ['Bern', 'Basel'] },
        hotel: { type: 'object', properties: { stars: { type: 'integer' } } },
        notes: { oneOf: [{ type: 'string' }, { type: 'array' }] },
      },
    },
    index: { traveller: 'data.traveller' },
    steps: [
      {
        id: 'book',
        stepType: 'Activity',
        inputs: { ActivityName: '"book"' },
        nextStepId: 'wait',
        compensateWith: [{ id: 'cancel', stepType: 'NoOp' }],
      },
      {
        id: 'wait',
        stepType: 'WaitFor',
        inputs: { EventName: '"arrived"', EventKey: '"k"' },
        selectNextStep: { book: 'data.again' },
      },
      ...Array.from({ length: extra }, (_, at) => ({ id: `extra-${at}`, stepType: 'NoOp' })),
    ],
  };
}

const WAITS = {
  id: 'waits',
  steps: [
    {
      id: 'wait',
      stepType: 'WaitFor',
      inputs: { EventName: '"arrived"', EventKey: '"k"', EffectiveDate: '"2100-01-01"' },
    },
  ],
};

export async function openAgency(client: StepwrightClient): Promise<void> {
  const { activities, definitions, events, steps, workflows } = client;
  await steps.put('quote', 'price = 3\n');
  await steps.put('quote', 'price = 4\n');
  await definitions.register(trip(1) as never);
  await definitions.register(trip(2) as never);
  await definitions.register(WAITS);
  await definitions.register({ id: 'resting', steps: [{ id: 'a', stepType: 'NoOp' }] });
  await definitions.disable('resting');
  const tags = { team: 'north', priority: 'high' };
  await workflows.start('trip', { traveller: 'Ada' }, { tags });
  await workflows.start('trip', { traveller: 'Bob' });
  await workflows.start('waits');
  await events.publish('arrived', 'k', { at: 'noon' });
  const worker = { workerId: 'busy', host: 'h'.repeat(80), version: '2.1' };
  await activities.pull('book', { ...worker, waitSeconds: 20, leaseSeconds: 900 });
}
