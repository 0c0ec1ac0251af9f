/** Goal: no edit is lost without a question, whichever way the user leaves the page. */
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { browserPath } from './support/browser.js';
import { usePages } from './support/page-test.js';
import { pasteText } from './support/paste-text.js';

const DEFINITION = `
Id: approval
Steps:
  - Id: one
    StepType: NoOp
`;

describe.runIf(browserPath !== null)('an unsaved edit', () => {
  const pages = usePages({
    seed: async (client) => {
      await client.definitions.register(DEFINITION);
    },
  });

  /** Counts the questions of the browser, and answers them. */
  const answerQuestions = (page: Page): { count: number; isAccepted: boolean } => {
    const questions = { count: 0, isAccepted: false };
    page.removeAllListeners('dialog');
    page.on('dialog', (dialog) => {
      questions.count += 1;
      void (questions.isAccepted ? dialog.accept() : dialog.dismiss());
    });
    return questions;
  };

  test('is kept unless the user agrees to leave, by a link, by Back or by a reload', async () => {
    const page = await pages.open('/definitions/approval');
    const questions = answerQuestions(page);
    await page.getByRole('link', { name: 'Edit' }).click();
    const editor = page.getByRole('textbox', { name: 'Definition document' });
    await editor.waitFor();
    const address = page.url();
    await pasteText(editor, `${DEFINITION}    Name: my edit\n`);
    await page.locator('.cm-line', { hasText: 'my edit' }).waitFor();
    const runs = page.getByRole('link', { name: 'Runs', exact: true });
    await runs.click();
    await expect.poll(() => questions.count).toBe(1);
    await page.evaluate(() => window.history.back());
    await expect.poll(() => questions.count).toBe(2);
    await expect.poll(() => page.url()).toBe(address);
    await page.evaluate(() => window.location.reload());
    await expect.poll(() => questions.count).toBe(3);
    await page.locator('.cm-line', { hasText: 'my edit' }).waitFor();
    questions.isAccepted = true;
    await runs.click();
    await page.getByRole('heading', { name: 'Runs', level: 1 }).waitFor();
    expect(questions.count).toBe(4);
    // Nothing is unsaved here.
    await page.getByRole('link', { name: 'Events', exact: true }).click();
    await page.getByRole('heading', { name: 'Events', level: 1 }).waitFor();
    expect(questions.count).toBe(4);
  });
});
