import { expect, it } from 'vitest';
import { placeOfStep } from '../../../src/engine/definitions/step-places.js';
import { define } from '../support/define.js';
import { box, noOp } from '../support/steps.js';

it('the place of a step is its container, or the step that it compensates', () => {
  const undo = noOp('undo', { nextStepId: 'undone' });
  const inner = noOp('inner', { compensateWith: [undo, noOp('undone')] });
  const definition = define([box('outer', [inner])]);
  const place = (id: string) => placeOfStep(definition, id);
  expect(place('outer')).toEqual({ container: null, compensates: null });
  expect(place('inner')).toEqual({ container: 'outer', compensates: null });
  expect(place('undone')).toEqual({ container: 'outer', compensates: 'inner' });
});

it('a step that several sequences lead to belongs to the outermost of them', () => {
  const definition = define([
    box('a', [noOp('x')], { nextStepId: 'b' }),
    noOp('b', { nextStepId: 'c' }),
    noOp('c', { nextStepId: 'x' }),
  ]);
  expect(placeOfStep(definition, 'x').container).toBeNull();
});
