/** The fields of the data that `stepwright dev` names in the command that starts a run. */
import { describe, expect, it } from 'vitest';
import { startDataOf } from '../../src/cli/files/start-data.js';

describe('the data that a start needs', () => {
  it('contains the members that expressions read and no Output writes', () => {
    const text = `
Id: order
Steps:
  - Id: price
    StepType: NoOp
    Outputs: { total: data.count * data.price.net }
    NextStepId: approval
  - Id: approval
    StepType: WaitFor
    Inputs: { EventName: '"approved"', EventKey: data.order, Timeout: data.get("timeout") or 5 }
    Outputs: { text: '"data.text " + str(data.total) + str(step.data.x)' }
`;
    expect(startDataOf(text)).toEqual(['count', 'price', 'order']);
  });

  it('contains the members that Input requires without a default, if there is an Input', () => {
    const input = {
      required: ['order', 'count', 'a b', 'note'],
      properties: { count: { type: 'integer', default: 1 }, order: { type: 'string' } },
    };
    const step = { Id: 'a', StepType: 'NoOp', Outputs: { x: 'data.other' } };
    expect(startDataOf(JSON.stringify({ Id: 'x', Input: input, Steps: [step] }))).toEqual([
      'order',
      'note',
    ]);
  });

  it.each(['', 'Id: x', '{', 'Id: x\nSteps: [{ Id: a, StepType: NoOp }]'])(
    'is empty for a document that reads nothing, or cannot be read: %j',
    (text) => {
      expect(startDataOf(text)).toEqual([]);
    },
  );
});
