/**
 * Goal: every page and every dialog is accessible according to axe in a narrow window, as on a phone.
 *
 * It has its own file because files run in parallel, and these tests take longest.
 */
import { describe } from 'vitest';
import { testViews, useViews } from './support/accessibility.js';
import { browserPath } from './support/browser.js';

describe.runIf(browserPath !== null)('every page and every dialog in a narrow window', () => {
  testViews(useViews(), 390);
});
