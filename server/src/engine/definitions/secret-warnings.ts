/** Warnings about `secrets`: unknown names, and expressions that can't use secrets. */
import { quoteText } from '../values/convert-input.js';
import type { ExpressionFacts } from './expression-facts.js';
import type { ExpressionSource } from './parse-state.js';
import type { DocumentWarningCode, ProblemList } from './problem-list.js';
import { suggestName } from './suggest-name.js';

/** @param known the names of secrets; null if unknown here */
export function warnAboutSecrets(
  { pointer, use }: ExpressionSource,
  { reads }: ExpressionFacts,
  known: readonly string[] | null,
  warnings: ProblemList<DocumentWarningCode>,
): void {
  for (const { keys, variable } of reads) {
    if (variable !== 'secrets') continue;
    if (use.takesSecrets !== true) {
      const message =
        '"secrets" is available only in the inputs of HttpRequest, Activity and custom steps.';
      warnings.add('unknown_name', pointer, message);
      return;
    }
    const [name] = keys;
    if (name === undefined || known === null || known.includes(name)) continue;
    const message = `There is no secret ${quoteText(name)} on this server; until there is, the step fails.${suggestName(name, known)}`;
    warnings.add('unknown_secret', pointer, message);
  }
}
