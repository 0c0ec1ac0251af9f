import { describe, expect, it } from 'vitest';
import {
  placeOfStep,
  placesOfStep,
  stepsInside,
} from '../../../src/engine/definitions/step-places.js';
import { define } from '../support/define.js';
import { box, noOp } from '../support/steps.js';

const inside = (container: string) => ({ container, compensates: null });
const top = { container: null, compensates: null };

describe('placeOfStep', () => {
  it('returns the container of a step, or the step that it compensates', () => {
    const undo = noOp('undo', { nextStepId: 'undone' });
    const inner = noOp('inner', { compensateWith: [undo, noOp('undone')] });
    const definition = define([box('outer', [inner])]);
    expect(placeOfStep(definition, 'outer')).toEqual(top);
    expect(placeOfStep(definition, 'inner')).toEqual(inside('outer'));
    expect(placeOfStep(definition, 'undone')).toEqual({
      container: 'outer',
      compensates: 'inner',
    });
  });

  it('returns the container of a step that no path leads to', () => {
    const undo = [noOp('undo'), noOp('spare undo')];
    const definition = define([
      box('outer', [
        box('inner', [noOp('a', { compensateWith: undo }), noOp('spare')]),
        box('spare box', [noOp('in spare box')]),
      ]),
    ]);
    expect(placeOfStep(definition, 'spare')).toEqual(inside('inner'));
    expect(placeOfStep(definition, 'spare undo')).toEqual({
      container: 'inner',
      compensates: 'a',
    });
    expect(placeOfStep(definition, 'spare box')).toEqual(inside('outer'));
    expect(placeOfStep(definition, 'in spare box')).toEqual(inside('spare box'));
  });
});

describe('placesOfStep', () => {
  it('adds the places from which a path leads to the step', () => {
    const definition = define([
      box('a', [noOp('x'), noOp('spare')], { nextStepId: 'b' }),
      noOp('b', { nextStepId: 'c' }),
      noOp('c', { selectNextStep: { x: 'True' } }),
      box('d', [noOp('y', { nextStepId: 'b' }), noOp('spare y', { nextStepId: 'y' })]),
    ]);
    expect(placesOfStep(definition, 'x')).toEqual([inside('a'), top, inside('d')]);
    expect(placesOfStep(definition, 'c')).toEqual([top, inside('d')]);
    expect(placesOfStep(definition, 'spare')).toEqual([inside('a')]);
    expect(placesOfStep(definition, 'y')).toEqual([inside('d')]);
  });
});

describe('stepsInside', () => {
  it('lists the steps inside a container, and those that a path leads to from there', () => {
    const definition = define([
      box('a', [
        noOp('x', { nextStepId: 'out', compensateWith: [noOp('undo x')] }),
        box('spare', [noOp('in spare')]),
      ]),
      noOp('out'),
      noOp('other'),
    ]);
    expect([...stepsInside(definition, 'a')].sort()).toEqual([
      'in spare',
      'out',
      'spare',
      'undo x',
      'x',
    ]);
  });
});
