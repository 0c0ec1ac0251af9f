/**
 * The contract of ScriptRuntime as tests: run it against every implementation.
 *
 * Each case is data in, data out, through the public interface only. P1 to P4 refer to script-runtime.ts.
 */
import { describe, expect, it } from 'vitest';
import type { ScriptRuntime } from '../../src/scripts/script-runtime.js';
import { describeCustomScripts } from './contract/custom-scripts.js';
import { describeExpressions } from './contract/expressions.js';
import { describeResults } from './contract/results.js';
import { CONTEXT, DATA, runtimeUnderTest } from './contract/runtime-under-test.js';
import { describeVariables } from './contract/variables.js';

export function describeScriptRuntime(
  name: string,
  create: (environment: Readonly<Record<string, string>>) => ScriptRuntime,
): void {
  describe(`${name}: ScriptRuntime`, () => {
    const test = runtimeUnderTest(create);
    const { valueOf } = test;

    describeVariables(test);
    describeResults(test);
    describeExpressions(test);
    describeCustomScripts(test);

    describe('each of many concurrent calls', () => {
      it('does not delay the calls of another definition, and leaves the queue when it is aborted', async () => {
        const abort = new AbortController();
        const ended: string[] = [];
        const evaluate = async (source: string, definitionId: string, signal?: AbortSignal) => {
          const options = { definitionId, ...(signal === undefined ? {} : { signal }) };
          const result = await test.runtime.evaluate(
            [{ source }],
            { data: {}, context: {} },
            options,
          );
          ended.push(definitionId);
          return result;
        };
        const endless = Array.from({ length: 25 }, () =>
          evaluate('sum(1 for _ in iter(int, 1))', 'slow', abort.signal),
        );
        for (let turn = 0; turn < 3; turn += 1) {
          expect(await evaluate('abs(-1)', 'healthy')).toEqual({ ok: true, values: [1] });
        }
        // One was running when the first healthy call arrived. Until there is a spare, one more may run between two of
        // them.
        expect(ended.filter((name) => name === 'slow').length).toBeLessThanOrEqual(3);
        abort.abort();
        const results = await Promise.all(endless);
        const types = results.map((result) => (result.ok ? 'none' : result.error.type));
        expect(types.filter((type) => type === 'Aborted').length).toBeGreaterThanOrEqual(23);
        expect(test.runtime.statistics().queued).toBe(0);
        expect(await evaluate('abs(-1)', 'healthy')).toMatchObject({ ok: true });
      });
    });

    describe('checkSyntax', () => {
      it('finds no problem in valid source', async () => {
        expect(await test.runtime.checkSyntax('expression', ['data.a', 'a +\nb', ' 1 '])).toEqual(
          [],
        );
        expect(
          await test.runtime.checkSyntax('script', ['x = 1\n', '', 'def f():\n  return 1']),
        ).toEqual([]);
        expect(await test.runtime.checkSyntax('script', [])).toEqual([]);
      });

      it('reports source, line and column', async () => {
        const problems = await test.runtime.checkSyntax('script', [
          'x = 1',
          'a = 1\nb = (',
          'return 1',
        ]);
        expect(problems).toEqual([
          { index: 1, message: "'(' was never closed", line: 2, column: 5 },
          { index: 2, message: "'return' outside function", line: 1, column: 1 },
        ]);
      });

      it('reports positions in an expression as it was written', async () => {
        const problems = await test.runtime.checkSyntax('expression', [
          '  1 +* 2',
          '\n\n  a\n +* 2',
          'x = 1',
          '',
        ]);
        expect(problems.map(({ index, line, column }) => [index, line, column])).toEqual([
          [0, 1, 6],
          [1, 4, 3],
          [2, 1, expect.any(Number)],
          [3, null, null],
        ]);
      });

      it('handles sources that are too complex for the parser', async () => {
        const problems = await test.runtime.checkSyntax('expression', [
          '1',
          `${'('.repeat(5000)}1${')'.repeat(5000)}`,
          `${'-'.repeat(200_000)}1`,
          ')',
        ]);
        expect(problems.map(({ index }) => index)).toEqual([1, 2, 3]);
        expect(await valueOf('sum([1, 1])')).toBe(2);
      });

      it('runs no code', async () => {
        expect(await test.runtime.checkSyntax('script', ['while True: pass'])).toEqual([]);
      });
    });

    describe('the life cycle', () => {
      it('is ready after the first call, and counts calls', () => {
        expect(test.runtime.ready).toBe(true);
        expect(test.runtime.statistics()).toMatchObject({ busy: 0, queued: 0 });
      });

      it('evaluates constants, plain paths and simple operators synchronously', () => {
        const variables = { data: DATA, context: CONTEXT };
        const sources = [
          '"x"',
          ' data.order.lines[0]["sku"] ',
          'data.count\n < len(data.list) + 1',
        ];
        const expressions = sources.map((source) => ({ source }));
        expect(test.runtime.evaluate(expressions, variables)).toEqual({
          ok: true,
          values: ['x', 'a', true],
        });
      });
    });
  });
}
