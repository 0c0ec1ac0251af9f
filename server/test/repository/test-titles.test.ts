/** The lint rule that keeps test titles sentences (docs/style.md). */
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { RuleTester, type Rule } from 'eslint';
import { describe, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

const { default: plugin } = (await import(
  path.join(ROOT, 'scripts/check/eslint-test-titles.mjs')
)) as { default: { rules: { sentence: Rule.RuleModule } } };

RuleTester.describe = describe;
RuleTester.it = (title: string, test: () => void) => {
  it(`judges ${title}`, test);
};

const errors = [{ messageId: 'noVerb' }];

new RuleTester().run('the rule for test titles', plugin.rules.sentence, {
  valid: [
    "it('rejects an expired token', f)",
    "it('is rejected', f)",
    `it("doesn't retry", f)`,
    "it('re-evaluates the inputs', f)",
    "it('runs', f)",
    "it('works: %s', f)",
    'it(`survives ${what}`, f)',
    "it.each([1])('rejects %s', f)",
    'it.each`a`(`rejects $a`, f)',
    "test.skipIf(true).for(['a title'])('rejects %s', { timeout: 1 }, f)",
    "it.only('rejects it', f)",
    // Known only when the test runs.
    'it(title, f)',
    // Other functions.
    "describe('tokens', f)",
    "/a/.test('a title')",
    "it.extend('a title', f)",
    "test.skip('only root may do this')",
    "run.each([1])('a title', f)",
  ],
  invalid: [
    "it('expired tokens are rejected', f)",
    "it('that is expired is rejected', f)",
    "it('are rejected', f)",
    "it('reject an expired token', f)",
    "it('Rejects an expired token', f)",
    "it('tokens are rejected', f)",
    "it('always rejects it', f)",
    "it('', f)",
    "it('%s is rejected', f)",
    'it(`${what} is rejected`, f)',
    "it.each([1])('%s is rejected', f)",
    "it.runIf(true).each([1])('of %s is rejected', f)",
    'it.each`a`(`$a is rejected`, f)',
    "test.skip('a token', f)",
  ].map((code) => ({ code, errors })),
});
