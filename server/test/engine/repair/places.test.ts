/** Modifications: where the steps that they start run. */
import { describe, expect, it } from 'vitest';
import { inOrder } from '../support/define.js';
import { scenarios } from '../support/scenario.js';
import { box, failing, foreach, noOp, saga, trace, undoable, waitFor } from '../support/steps.js';

const noTrail = { data: { trail: [] } };

scenarios('a modification', (start) => {
  describe('the start of a step that no path leads to', () => {
    const spare = trace('spare', {
      outputs: { trail: '[...data.trail, `spare ${context.Item}`]' },
    });

    it('takes place in its only open container, with its item', () => {
      const driver = start(
        inOrder(
          foreach('each', '[1, 2]', [waitFor('a'), spare], { inputs: { runParallel: false } }),
          trace('z'),
        ),
        noTrail,
      );
      driver.modify({
        cancel: [driver.pointer('a').id],
        start: [{ stepId: 'spare', inside: null }],
      });
      expect(driver.open).toEqual(['each open', 'a event']);
      expect(driver.data['trail']).toEqual(['spare 1']);
    });

    it('takes place in the chosen execution', () => {
      const driver = start(
        inOrder(foreach('each', '[1, 2]', [box('box', [waitFor('a'), spare])]), trace('z')),
        noTrail,
      );
      const [, second] = [...driver.instance.pointers.values()].filter(
        ({ stepId }) => stepId === 'box',
      );
      const ambiguous = driver.modify({ start: [{ stepId: 'spare', inside: null }] });
      expect(ambiguous).toMatchObject({
        outcome: 'impossible',
        obstacles: [{ code: 'ambiguous_container' }],
      });
      driver.modify({ start: [{ stepId: 'spare', inside: second!.id }] });
      expect(driver.data['trail']).toEqual(['spare 2']);
    });

    it('lets the saga around the step undo it', () => {
      const inner = [waitFor('a'), undoable('spare', { nextStepId: 'bad' }), failing('bad')];
      const driver = start([saga(inner)], noTrail);
      driver.modify({
        cancel: [driver.pointer('a').id],
        start: [{ stepId: 'spare', inside: null }],
      });
      expect(driver.instance.outcome).toBe('Compensated');
      expect(driver.history).toContain('-spare Complete');
    });

    it('is impossible anywhere else', () => {
      const driver = start([box('box', [noOp('a'), spare]), waitFor('b')], noTrail);
      driver.modify({ cancel: 'all', start: [{ stepId: 'b', inside: null }] });
      const result = driver.modify({ start: [{ stepId: 'spare', inside: null }] });
      expect(result).toMatchObject({
        outcome: 'impossible',
        obstacles: [{ code: 'container_not_open', pointer: '/start/0/stepId' }],
      });
      expect(driver.open).toEqual(['b event']);
    });
  });

  describe('the start of a step that can run in several places', () => {
    const startOf = (stepId: string, inside: number | null = null) => [{ stepId, inside }];

    it("takes place in the step's own container if that is open, otherwise where a path leads to it", () => {
      const driver = start([
        box('a', [waitFor('x', { nextStepId: 'y' }), waitFor('y')], { nextStepId: 'b' }),
        waitFor('b', { nextStepId: 'y' }),
      ]);
      driver.modify({ start: startOf('y') });
      expect(driver.pointer('y').parentId).toBe(driver.pointer('a').id);
      driver.modify({ cancel: 'all', start: startOf('y') });
      expect(driver.pointer('y').parentId).toBeNull();
    });

    it('takes place in the chosen container if a path leads from there to the step', () => {
      const driver = start([
        box('a', [waitFor('x', { nextStepId: 'out' })], { nextStepId: 'out' }),
        waitFor('out'),
      ]);
      const { id } = driver.pointer('a');
      driver.modify({ start: startOf('out', id) });
      driver.modify({ start: startOf('out') });
      expect(
        [...driver.instance.pointers.values()].slice(-2).map(({ parentId }) => parentId),
      ).toEqual([id, null]);
    });
  });
});
