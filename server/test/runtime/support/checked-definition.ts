/** Checks a definition with every custom step and limit known and every expression valid, so that only warnings remain. */
import { DefinitionChecker } from '../../../src/runtime/definitions/definition-checker.js';
import { examineExpression } from '../../../src/scripts/expressions/examine-expression.js';
import type { ParsedDefinition } from '../../../src/engine/definitions/parse-definition.js';

const checker = new DefinitionChecker({
  scripts: { checkSyntax: async () => [], examine: examineExpression },
  stepScripts: { known: async (names) => new Set(names) },
  limits: {
    get: async (name) => ({ name, description: null, concurrency: 1, rate: null }),
    names: async () => [],
  },
  inputSchemas: { check: async () => [] },
  secretNames: null,
});

export function checkDocument(document: unknown): Promise<ParsedDefinition> {
  return checker.check(document);
}
