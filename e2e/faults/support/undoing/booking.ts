/**
 * A saga with work in flight on three sides: workers book, the server charges after each booking, and reserves beside it.
 * Each step calls an outside service, and its compensation calls the service that undoes it.
 */
import type { StepRow } from '../wire.js';

/** Steps with an effect outside. */
export const ACTIONS = ['book', 'charge', 'reserve'] as const;
export type Action = (typeof ACTIONS)[number];

export const ITEMS = ['a', 'b', 'c'] as const;

/** The data of a run. The saga of a run that is not refused succeeds, and the run waits until it is terminated. */
export interface Booking {
  readonly name: string;
  readonly items: readonly string[];
  readonly services: string;
  readonly isRefused: boolean;
}

export type Outcome = 'Completed' | 'Failed' | 'Unknown';

/** The members of a step of a run that the checker reads, besides those that other tests read. */
export interface BookingRow extends StepRow {
  readonly item: unknown;
  readonly compensates: number | null;
}

interface Step {
  readonly Id: string;
  readonly [member: string]: unknown;
}

function call(id: string, resource: string, rest: object = {}): Step {
  const Inputs = {
    BaseUrl: 'data.services',
    Resource: resource,
    Method: '"POST"',
    SucceedOn: ['2xx'],
  };
  return { Id: id, StepType: 'HttpRequest', Inputs, ...rest };
}

/** The path of an outside service for an action, as an expression. */
function pathOf(service: string, action: Action): string {
  return `f"/${service}/{data.name}/{context.Item}/${action}"`;
}

function undo(action: Action): object {
  const outcome = ' + "?outcome=" + context.Compensating.Outcome';
  return { CompensateWith: [call(`un${action}`, pathOf('undo', action) + outcome)] };
}

function forEachItem(id: string, steps: readonly Step[]): Step {
  return { Id: id, StepType: 'Foreach', Inputs: { Collection: 'data.items' }, Do: [steps] };
}

const BOOK: Step = {
  Id: 'book',
  StepType: 'Activity',
  Inputs: { ActivityName: '"book"', Parameters: { '@path': pathOf('do', 'book') } },
  NextStepId: 'charge',
  ...undo('book'),
};

export const BOOKING = {
  Id: 'booking',
  Steps: [
    {
      Id: 'saga',
      StepType: 'Sequence',
      Saga: true,
      CompensateWith: [call('settle', 'f"/settle/{data.name}"')],
      Do: [
        [forEachItem('bookings', [BOOK, call('charge', pathOf('do', 'charge'), undo('charge'))])],
        [forEachItem('stock', [call('reserve', pathOf('do', 'reserve'), undo('reserve'))])],
        [
          {
            Id: 'checked',
            StepType: 'If',
            Inputs: { Condition: 'data.isRefused' },
            Do: [[call('check', 'f"/refuse/{data.name}"')]],
          },
        ],
      ],
      NextStepId: 'rest',
    },
    {
      Id: 'rest',
      StepType: 'If',
      Inputs: { Condition: 'not data.isRefused' },
      Do: [
        [
          {
            Id: 'hold',
            StepType: 'WaitFor',
            Inputs: { EventName: '"never"', EventKey: '"never"' },
          },
        ],
      ],
    },
  ],
};
